//! Values and statements of the reference.

use super::reference::{Data, Env, Outcome, Reference};
use crate::language::ast::{Binary, Block, DefineBody, Expr, ExprId, StatementKind, Unary};

impl Reference<'_> {
    pub(super) fn run(&self, block: &Block, env: &mut Env, data: &mut Data) -> Outcome<()> {
        for statement in block {
            match &statement.kind {
                StatementKind::Assign(name, at, value) => {
                    let value = self.eval(*value, env, data)?;
                    if env.contains_key(name) {
                        env.insert(name.clone(), value);
                        continue;
                    }
                    let offset = self.offset(name, at, env, data)?;
                    if self.bounds.get(name).is_some_and(|(low, high)| value < *low || value > *high) {
                        return Err("range".to_owned());
                    }
                    data.vars.get_mut(name).unwrap()[offset] = value;
                }
                StatementKind::Local(name, value) => {
                    let value = value.map_or(Ok(0), |value| self.eval(value, env, data))?;
                    env.insert(name.clone(), value);
                }
                StatementKind::If(condition, then, otherwise) => {
                    let branch = if self.eval(*condition, env, data)? != 0 { then } else { otherwise };
                    self.run(branch, env, data)?;
                }
                StatementKind::While(condition, body) => {
                    let mut rounds = 0;
                    while self.eval(*condition, env, data)? != 0 {
                        rounds += 1;
                        if rounds > 1000 {
                            return Err("loop".to_owned());
                        }
                        self.run(body, env, data)?;
                    }
                }
                other => panic!("the generator does not write {other:?}"),
            }
        }
        Ok(())
    }

    fn offset(&self, name: &str, at: &[ExprId], env: &Env, data: &Data) -> Outcome<usize> {
        let mut offset = 0;
        for (&index, &size) in at.iter().zip(&self.sizes[name]) {
            let index = self.eval(index, env, data)?;
            if index < 0 || index as usize >= size {
                return Err("index".to_owned());
            }
            offset = offset * size + index as usize;
        }
        Ok(offset)
    }

    pub(super) fn eval(&self, id: ExprId, env: &Env, data: &Data) -> Outcome<i32> {
        let go = |id: ExprId| self.eval(id, env, data);
        Ok(match self.model.expr(id) {
            Expr::Number(value) => *value,
            Expr::Bool(value) => i32::from(*value),
            Expr::Name(name) => {
                if let Some(value) = env.get(name) {
                    *value
                } else if let Some(values) = data.vars.get(name) {
                    values[0]
                } else {
                    let define = self.model.defines.iter().find(|d| d.name.text == *name).unwrap();
                    let DefineBody::Expr(body) = define.body else { panic!("a value") };
                    self.eval(body, &Env::new(), data)?
                }
            }
            Expr::Element(name, at) => data.vars[name][self.offset(name, at, env, data)?],
            Expr::Unary(Unary::Not, inner) => i32::from(go(*inner)? == 0),
            Expr::Unary(Unary::Minus, inner) => -go(*inner)?,
            Expr::Binary(op, a, b) => {
                let a = go(*a)?;
                match (op, a) {
                    (Binary::And, 0) => return Ok(0),
                    (Binary::Or, 1..) => return Ok(1),
                    _ => {}
                }
                let b = go(*b)?;
                match op {
                    Binary::And | Binary::Or => i32::from(b != 0),
                    Binary::Add => a + b,
                    Binary::Sub => a - b,
                    Binary::Mul => a * b,
                    Binary::Mod => a.rem_euclid(b),
                    Binary::Eq => i32::from(a == b),
                    Binary::Ne => i32::from(a != b),
                    Binary::Lt => i32::from(a < b),
                    Binary::Le => i32::from(a <= b),
                    Binary::Gt => i32::from(a > b),
                    Binary::Ge => i32::from(a >= b),
                    other => panic!("the generator does not write {other:?}"),
                }
            }
            other => panic!("the generator does not write {other:?}"),
        })
    }
}
