//! What stands at the top of a model: constants, variables, channels, definitions, alphabets, objects.

use super::super::ast::{
    Alphabet, Bounds, Channel, Collection, Define, DefineBody, Definition, ExprId, Initial, Item, Name, Object,
    Operation, Var,
};
use super::super::diagnostic::{Code, Diagnostic};
use super::super::token::Kind;
use super::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn declaration(&mut self) -> Parsed<()> {
        let word = self.slice(self.span());
        match (self.kind(), word) {
            (Kind::Sign(";"), _) => self.advance(),
            (Kind::Directive, _) => self.directive(word)?,
            (Kind::Name, "var" | "hvar") => {
                self.advance();
                let var = self.variable()?;
                self.model.vars.push(var);
            }
            (Kind::Name, "channel") => self.channel()?,
            (Kind::Name, "enum") => self.enumeration()?,
            (Kind::Name, _) => self.definition()?,
            _ => return Err(self.unexpected("a declaration")),
        }
        Ok(())
    }

    fn directive(&mut self, word: &str) -> Parsed<()> {
        let span = self.span();
        self.advance();
        match word {
            "#define" => self.define(),
            "#alphabet" => self.alphabet(),
            "#assert" => self.assertion(span),
            "#object" => self.object(),
            "#import" | "#include" => self.import(word),
            _ => Err(Box::new(
                Diagnostic::new(Code::Syntax, span, format!("there is no directive `{word}`"))
                    .help("there are #define, #alphabet, #assert, #object, #import and #include"),
            )),
        }
    }

    /// Libraries of PAT that are built in are let through; others have no counterpart.
    fn import(&mut self, word: &str) -> Parsed<()> {
        let span = self.span();
        if self.kind() != Kind::Text {
            return Err(self.unexpected("a file in quotes"));
        }
        self.advance();
        let file = self.slice(span).trim_matches('"');
        if word == "#include" {
            return Err(Box::new(
                Diagnostic::new(Code::Unsupported, span, "a model is one file: #include is not read")
                    .help(format!("put the text of {file} here")),
            ));
        }
        let built_in = ["PAT.Lib.Queue", "PAT.Lib.Stack", "PAT.Lib.Set", "PAT.Lib.List", "PAT.Lib.Example", "PAT.Math"];
        if !built_in.contains(&file) {
            return Err(Box::new(
                Diagnostic::new(Code::Unsupported, span, format!("the C# library {file} cannot be loaded"))
                    .help("Queue, Stack, Set and List are built in: declare one with var<Queue> q;"),
            ));
        }
        self.end("the import")
    }

    /// The semicolon after a declaration.
    fn end(&mut self, what: &str) -> Parsed<()> {
        self.expect(";", &format!("after {what}"))
    }

    fn define(&mut self) -> Parsed<()> {
        let name = self.name("the name of a definition")?;
        let adjacent = self.is("(") && self.span().start == name.span.end;
        let params = if adjacent {
            self.advance();
            self.params()?
        } else {
            Vec::new()
        };
        let body = if self.is("{") { DefineBody::Block(self.block()?) } else { DefineBody::Expr(self.expression()?) };
        self.model.defines.push(Define { name, params, body });
        self.end("the definition")
    }

    /// Names up to the closing bracket.
    fn params(&mut self) -> Parsed<Vec<Name>> {
        let mut params = Vec::new();
        while !self.take(")") {
            params.push(self.name("a parameter")?);
            if !self.take(",") {
                self.expect(")", "after the parameters")?;
                break;
            }
        }
        Ok(params)
    }

    fn alphabet(&mut self) -> Parsed<()> {
        let process = self.name("the name of a process")?;
        self.expect("{", "before the events")?;
        let events = self.event_sets()?;
        self.expect("}", "after the events")?;
        self.model.alphabets.push(Alphabet { process, events });
        self.end("the alphabet")
    }

    fn enumeration(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("{", "before the names")?;
        let mut names = Vec::new();
        while !self.take("}") {
            names.push(self.name("a name")?);
            if !self.take(",") {
                self.expect("}", "after the names")?;
                break;
            }
        }
        self.model.enums.push(names);
        self.end("the enumeration")
    }

    fn channel(&mut self) -> Parsed<()> {
        self.advance();
        let name = self.name("the name of a channel")?;
        let count = self.bracketed("after the number of channels")?;
        let size = self.expression()?;
        self.model.channels.push(Channel { name, count, size });
        self.end("the channel")
    }

    fn definition(&mut self) -> Parsed<()> {
        let name = self.name("the name of a process")?;
        let params = if self.take("(") { self.params()? } else { Vec::new() };
        self.expect("=", "after the head of the definition")?;
        let body = self.process()?;
        self.model.definitions.push(Definition { name, params, body });
        if self.kind() == Kind::End { Ok(()) } else { self.end("the process") }
    }

    /// A variable, after `var` and up to its semicolon.
    fn variable(&mut self) -> Parsed<Var> {
        let collection = if self.take("<") { Some(self.collection()?) } else { None };
        let name = self.name("the name of a variable")?;
        let sizes = self.subscripts()?;
        let bounds = if self.take(":") { Some(self.bounds()?) } else { None };
        let initial = if !self.take("=") {
            Initial::None
        } else if collection.is_some() {
            self.created()?
        } else if self.take("[") {
            Initial::Many(self.items()?)
        } else {
            Initial::One(self.expression()?)
        };
        self.end("the variable")?;
        Ok(Var { name, collection, sizes, bounds, initial })
    }

    fn collection(&mut self) -> Parsed<Collection> {
        let name = self.name("the name of a type")?;
        let collection = match name.text.as_str() {
            "Queue" => Collection::Queue,
            "Stack" => Collection::Stack,
            "Set" => Collection::Set,
            "List" => Collection::List,
            _ => {
                return Err(Box::new(
                    Diagnostic::new(Code::Unknown, name.span, format!("there is no type `{}`", name.text))
                        .help("there are Queue, Stack, Set and List"),
                ));
            }
        };
        self.expect(">", "after the type")?;
        Ok(collection)
    }

    /// `new Queue()`: collections begin empty.
    fn created(&mut self) -> Parsed<Initial> {
        if !self.take_word("new") {
            return Err(self.unexpected("`new`"));
        }
        self.name("the name of a type")?;
        self.expect("(", "after the type")?;
        self.expect(")", "after the bracket")?;
        Ok(Initial::None)
    }

    /// `{0..3}`, `{..3}`, `{0..}`.
    fn bounds(&mut self) -> Parsed<Bounds> {
        self.expect("{", "before the range")?;
        let low = if self.is("..") { None } else { Some(self.expression()?) };
        self.expect("..", "in the range")?;
        let high = if self.is("}") { None } else { Some(self.expression()?) };
        self.expect("}", "after the range")?;
        Ok(Bounds { low, high })
    }

    /// The entries of an initialiser, up to the closing bracket.
    fn items(&mut self) -> Parsed<Vec<Item>> {
        let mut items = Vec::new();
        while !self.take("]") {
            items.push(self.item()?);
            if !self.take(",") {
                self.expect("]", "after the values")?;
                break;
            }
        }
        Ok(items)
    }

    fn item(&mut self) -> Parsed<Item> {
        // `f(n)` would read as a call: `3(n)` is the only form with a bracket, and begins with a number or a bracket.
        let first = self.item_value()?;
        if self.take("..") {
            return Ok(Item::Range(first, self.expression()?));
        }
        if self.take("(") {
            let times = self.expression()?;
            self.expect(")", "after the number of times")?;
            return Ok(Item::Times(first, times));
        }
        Ok(Item::One(first))
    }

    fn item_value(&mut self) -> Parsed<ExprId> {
        // A name directly before a bracket is the value that is repeated: `N(3)`.
        if self.kind() == Kind::Name && self.ahead(1) == Kind::Sign("(") {
            let name = self.name("a value")?;
            return self.add_expr(super::super::ast::Expr::Name(name.text), name.span);
        }
        self.expression()
    }

    /// `#object Name(threads) { var ...; operation name(x:{0..1}) { ... } }`.
    fn object(&mut self) -> Parsed<()> {
        let name = self.name("the name of an object")?;
        self.expect("(", "before the number of threads")?;
        let threads = self.expression()?;
        self.expect(")", "after the number of threads")?;
        self.expect("{", "before the operations")?;
        let (mut vars, mut operations) = (Vec::new(), Vec::new());
        while !self.take("}") {
            if self.take_word("var") {
                vars.push(self.variable()?);
            } else if self.take_word("operation") {
                let name = self.name("the name of an operation")?;
                self.expect("(", "after the operation's name")?;
                let mut params = Vec::new();
                while !self.take(")") {
                    params.push(self.index()?);
                    if !self.take(",") {
                        self.expect(")", "after the parameters")?;
                        break;
                    }
                }
                let guard = self.bracketed("after the guard")?;
                operations.push(Operation { name, params, guard, body: self.block()? });
            } else {
                return Err(self.unexpected("`var` or `operation`"));
            }
        }
        self.take(";");
        self.model.objects.push(Object { name, threads, vars, operations });
        Ok(())
    }
}
