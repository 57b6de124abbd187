//! Constants, variables and channels.

use super::super::ast::{Bounds, ExprId, Initial, Item, Name, Var};
use super::super::diagnostic::{Code, Diagnostic};
use super::super::labels::Joint;
use super::super::program::{ChannelInfo, Ex, Global};
use super::{Lowered, Lowering, Own, Ty, Variable};

/// How many words the variables of a model may take.
const DATA_MAX: usize = 1 << 15;

impl<'a> Lowering<'a> {
    /// Makes every name known.
    pub(super) fn declare(&mut self) {
        let model = self.model;
        for names in &model.enums {
            for (value, name) in names.iter().enumerate() {
                let fresh = self.fresh(name);
                if self.keep(fresh).is_some() {
                    self.constants.insert(&name.text, value as i32);
                }
            }
        }
        for (at, define) in model.defines.iter().enumerate() {
            let fresh = self.fresh(&define.name);
            if self.keep(fresh).is_some() {
                self.defines.insert(&define.name.text, at);
            }
        }
        for (at, definition) in model.definitions.iter().enumerate() {
            let fresh = match self.definitions.contains_key(definition.name.text.as_str()) {
                true => self.twice(&definition.name),
                false => Ok(()),
            };
            if self.keep(fresh).is_some() {
                self.definitions.insert(&definition.name.text, at);
            }
        }
        for var in &model.vars {
            let declared = self.fresh(&var.name).and_then(|()| self.variable(var));
            self.keep(declared);
        }
        for channel in &model.channels {
            let declared = self.fresh(&channel.name).and_then(|()| self.channel(channel));
            self.keep(declared);
        }
        for (at, alphabet) in model.alphabets.iter().enumerate() {
            self.alphabets.entry(&alphabet.process.text).or_default().push(at);
            if !self.definitions.contains_key(alphabet.process.text.as_str()) {
                let unknown = self.unknown_process(&alphabet.process);
                self.keep::<()>(Err(unknown));
            }
        }
    }

    pub(super) fn fresh(&self, name: &Name) -> Lowered<()> {
        let text = name.text.as_str();
        let taken = self.constants.contains_key(text)
            || self.defines.contains_key(text)
            || self.variables.contains_key(text)
            || self.channels.contains_key(text);
        if taken { self.twice(name) } else { Ok(()) }
    }

    fn twice(&self, name: &Name) -> Lowered<()> {
        self.error(Code::Twice, name.span, format!("`{}` is declared twice", name.text))
    }

    pub(super) fn constant(&mut self, id: ExprId) -> Lowered<i32> {
        let (value, _) = self.expr(id, &mut Own::default())?;
        match self.exprs[value.0 as usize] {
            Ex::Const(value) => Ok(value),
            _ => Err(Box::new(
                Diagnostic::new(Code::NotConstant, self.model.expr_span(id), "this must be a constant")
                    .help("use numbers, names of #define and of enum"),
            )),
        }
    }

    fn sizes(&mut self, var: &Var) -> Lowered<Vec<u32>> {
        let mut sizes = Vec::new();
        let mut total = 1usize;
        for &size in &var.sizes {
            let value = self.constant(size)?;
            if value < 1 || value as usize > DATA_MAX {
                let message = format!("an array has 1 to {DATA_MAX} elements, not {value}");
                return self.error(Code::Range, self.model.expr_span(size), message);
            }
            sizes.push(value as u32);
            total = total.saturating_mul(value as usize);
        }
        if total > DATA_MAX {
            return self.error(Code::TooLarge, var.name.span, format!("more than {DATA_MAX} elements"));
        }
        Ok(sizes)
    }

    pub(super) fn variable(&mut self, var: &'a Var) -> Lowered<()> {
        let mut sizes = self.sizes(var)?;
        if let Some(kind) = var.collection {
            let (base, count) = (self.segments.len() as u32, sizes.iter().product::<u32>());
            for index in 0..count {
                let name = &var.name.text;
                self.segments.push(if sizes.is_empty() { name.clone() } else { format!("{name}[{index}]") });
            }
            let array = !sizes.is_empty();
            self.variables.insert(&var.name.text, Variable::Segments { base, count, array, kind });
            return Ok(());
        }
        let (mut values, ty) = self.initial(&var.initial)?;
        if sizes.is_empty() && matches!(var.initial, Initial::Many(_)) {
            sizes.push(values.len() as u32);
        }
        let len = sizes.iter().product::<u32>();
        if values.is_empty() {
            values = vec![0; len as usize];
        }
        if values.len() != len as usize {
            let message = format!("`{}` has {len} elements, and {} values are given", var.name.text, values.len());
            return self.error(Code::Arity, var.name.span, message);
        }
        let bounds = var.bounds.map(|bounds| self.bounds(bounds)).transpose()?;
        // A variable without a value begins at 0; a range without 0 needs a value.
        if let Some((low, high)) = bounds
            && let Some(value) = values.iter().find(|value| !(low..=high).contains(*value))
        {
            let message = format!("`{}` begins as {value}, outside of its range {low} to {high}", var.name.text);
            return self.error(Code::Range, var.name.span, message);
        }
        let at = self.data.len() as u32;
        if self.data.len() + values.len() > DATA_MAX {
            return self.error(Code::TooLarge, var.name.span, format!("the variables take more than {DATA_MAX} words"));
        }
        self.data.extend(values);
        self.globals.push(Global {
            name: var.name.text.clone(),
            at,
            len,
            boolean: ty == Ty::Bool,
            array: !sizes.is_empty(),
        });
        self.variables.insert(&var.name.text, Variable::Words { at, sizes, bounds, ty });
        Ok(())
    }

    fn bounds(&mut self, bounds: Bounds) -> Lowered<(i32, i32)> {
        let low = bounds.low.map_or(Ok(i32::MIN), |low| self.constant(low))?;
        let high = bounds.high.map_or(Ok(i32::MAX), |high| self.constant(high))?;
        Ok((low, high))
    }

    fn initial(&mut self, initial: &Initial) -> Lowered<(Vec<i32>, Ty)> {
        let items = match initial {
            Initial::None => return Ok((Vec::new(), Ty::Any)),
            Initial::One(value) => {
                let ty = self.expr(*value, &mut Own::default())?.1;
                return Ok((vec![self.constant(*value)?], ty));
            }
            Initial::Many(items) => items,
        };
        let mut values = Vec::new();
        let mut ty = Ty::Any;
        for item in items {
            let (first, count, step) = match *item {
                Item::One(value) => {
                    ty = self.expr(value, &mut Own::default())?.1;
                    (self.constant(value)?, 1, 0)
                }
                Item::Times(value, times) => {
                    ty = self.expr(value, &mut Own::default())?.1;
                    (self.constant(value)?, i64::from(self.constant(times)?), 0)
                }
                Item::Range(low, high) => {
                    ty = Ty::Int;
                    let (low, high) = (self.constant(low)?, self.constant(high)?);
                    (low, i64::from(high.abs_diff(low)) + 1, if high < low { -1 } else { 1 })
                }
            };
            if count < 0 || values.len() as i64 + count > DATA_MAX as i64 {
                let message = format!("an array has at most {DATA_MAX} elements");
                let (Item::One(at) | Item::Times(at, _) | Item::Range(at, _)) = *item;
                return self.error(Code::TooLarge, self.model.expr_span(at), message);
            }
            values.extend((0..count as i32).map(|index| first + step * index));
        }
        Ok((values, ty))
    }

    fn channel(&mut self, channel: &'a super::super::ast::Channel) -> Lowered<()> {
        let count = channel.count.map(|count| self.constant(count)).transpose()?;
        let size = self.constant(channel.size)?;
        if !(0..=1024).contains(&size) || !(1..=1024).contains(&count.unwrap_or(1)) {
            let message = "a channel has room for 0 to 1024 messages, and there are 1 to 1024 channels in an array";
            return self.error(Code::Range, channel.name.span, message);
        }
        let base = self.infos.len() as u32;
        for index in 0..count.unwrap_or(1) {
            let name = match count {
                None => channel.name.text.clone(),
                Some(_) => format!("{}[{index}]", channel.name.text),
            };
            let segment = (size > 0).then(|| {
                self.segments.push(name.clone());
                self.segments.len() as u32 - 1
            });
            self.infos.push(ChannelInfo {
                segment,
                size: size as usize,
                sent: self.labels.name(&name, Joint::Send),
                received: self.labels.name(&name, Joint::Receive),
                both: self.labels.name(&name, Joint::Dot),
            });
        }
        self.channels.insert(&channel.name.text, (base, count.unwrap_or(1) as u32));
        Ok(())
    }
}
