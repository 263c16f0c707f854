//! Reads attributes, types and symbols.

use super::ParseError;
use super::lexer::Token;
use super::parser::Parser;
use crate::{
    Acc, AccRow, Attr, Cmp, Guard, Key, Over, ReduceShape, RelKind, RelType, Role, Scalar, Space, SymKind, Symbols,
    Target, TensorType, Type, joined,
};
use tiga_abi::{DType, Poly, SizeExpr, Symbol};

impl<'a> Parser<'a> {
    /// An attribute after its key, parentheses included; flags have none.
    pub(super) fn attr(&mut self, key: Key) -> Result<Attr, ParseError> {
        if matches!(key, Key::Raw | Key::Step | Key::Indexed) {
            return Ok(Attr::Flag);
        }
        self.expect("(")?;
        let attr = match key {
            Key::With | Key::Callee => Attr::Name(self.name()?),
            Key::Shape => Attr::Shape(self.shape()?),
            Key::Over => {
                let word = self.word()?;
                let over = Over::ALL.into_iter().find(|o| o.name() == word);
                Attr::Over(over.ok_or_else(|| self.expected("what a reduction runs over"))?)
            }
            Key::Value => {
                let dtype = self.dtype()?;
                Attr::Value(self.scalar(dtype)?)
            }
            Key::Dims => Attr::Dims(self.tensor_type()?),
            Key::Axis | Key::AtMost | Key::Lanes | Key::Bytes => Attr::Int(self.int()?),
            Key::Begin => Attr::Extent(self.poly()?),
            Key::To => Attr::DType(self.dtype()?),
            Key::Space => Attr::Space(self.space()?),
            Key::Roles => Attr::Roles(self.list(")", Parser::role)?),
            Key::Targets => Attr::Targets(self.list(")", Parser::target)?),
            Key::Pattern => Attr::Ints(self.list(")", Parser::int)?),
            Key::Raw | Key::Step | Key::Indexed => Attr::Flag,
        };
        self.expect(")")?;
        Ok(attr)
    }

    fn role(&mut self) -> Result<Role, ParseError> {
        let word = self.word()?;
        Role::ALL.into_iter().find(|r| r.name() == word).ok_or_else(|| self.expected("a role"))
    }

    fn target(&mut self) -> Result<Target, ParseError> {
        match self.word()? {
            "edge" => Ok(Target::Edge),
            "row" => {
                let reducer = self.name()?;
                Ok(Target::Row { reducer, keep: self.eat_word("keep") })
            }
            "total" => Ok(Target::Total { reducer: self.name()? }),
            _ => Err(self.expected("`row`, `edge` or `total`")),
        }
    }

    fn shape(&mut self) -> Result<ReduceShape, ParseError> {
        self.expect_word("leaf")?;
        let leaf = if self.eat_word("inf") { None } else { Some(self.count()?) };
        self.expect(",")?;
        self.expect_word("acc")?;
        if !self.eat("{") {
            let acc = self.count()?;
            return Ok(ReduceShape { leaf, acc: Acc::fixed(self.lanes(acc)?) });
        }
        let mut rows = Vec::new();
        loop {
            if self.eat_word("else") {
                let otherwise = self.count()?;
                let otherwise = self.lanes(otherwise)?;
                self.expect("}")?;
                return Ok(ReduceShape { leaf, acc: Acc { rows, otherwise } });
            }
            let (width, cmp, bound) = self.comparison()?;
            self.expect(":")?;
            let acc = self.count()?;
            rows.push(AccRow { width, cmp, bound, acc: self.lanes(acc)? });
            self.expect(",")?;
        }
    }

    /// A number of accumulators: at least 1, at most 64.
    fn lanes(&self, count: u64) -> Result<u32, ParseError> {
        u32::try_from(count).ok().filter(|n| (1..=64).contains(n)).ok_or_else(|| self.expected("a number from 1 to 64"))
    }

    fn comparison(&mut self) -> Result<(Poly, Cmp, i64), ParseError> {
        let poly = self.poly()?;
        let cmp = [Cmp::Eq, Cmp::Lt, Cmp::Ge].into_iter().find(|c| self.eat(c.name()));
        let cmp = cmp.ok_or_else(|| self.expected("a comparison"))?;
        Ok((poly, cmp, self.int()?))
    }

    pub(super) fn guard(&mut self) -> Result<Guard, ParseError> {
        let mut terms = vec![self.comparison()?];
        while self.eat("&&") {
            terms.push(self.comparison()?);
        }
        Ok(Guard { terms })
    }

    fn space(&mut self) -> Result<Space, ParseError> {
        let word = self.word()?;
        match word {
            "once" => return Ok(Space::Once),
            "edges" => return Ok(Space::Edges),
            _ => self.expect("(")?,
        }
        let space = match word {
            "rows" => Space::Rows(self.poly()?),
            "blocks" => {
                let extent = self.poly()?;
                self.expect(",")?;
                Space::Blocks(extent, self.positive()?)
            }
            "short" => Space::Short(self.positive()?),
            "leaves" => Space::Leaves(self.positive()?),
            "long" => Space::Long(self.positive()?),
            _ => return Err(self.expected("an iteration space")),
        };
        self.expect(")")?;
        Ok(space)
    }

    fn positive(&mut self) -> Result<u64, ParseError> {
        match self.count()? {
            0 => Err(self.expected("a number above 0")),
            n => Ok(n),
        }
    }

    pub(super) fn dtype(&mut self) -> Result<DType, ParseError> {
        self.word()?.parse().map_err(|_| self.expected("an element type"))
    }

    pub(super) fn scalar(&mut self, dtype: DType) -> Result<Scalar, ParseError> {
        match self.peek() {
            Token::Number(text) | Token::Word(text) => {
                self.bump();
                Scalar::parse(dtype, text).map_err(|_| self.expected(&format!("a value of type {dtype}")))
            }
            _ => Err(self.expected("a constant")),
        }
    }

    /// A polynomial as it is printed: terms joined by `+`, factors by `*`.
    pub(super) fn poly(&mut self) -> Result<Poly, ParseError> {
        let mut sum = self.product()?;
        while self.eat("+") {
            sum = sum.add(&self.product()?);
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<Poly, ParseError> {
        let mut product = Poly::constant(1);
        loop {
            let factor = match self.peek() {
                Token::Word(symbol) => {
                    self.bump();
                    Poly::symbol(symbol)
                }
                Token::Number(_) => Poly::constant(self.int()?),
                _ => return Err(self.expected("an extent")),
            };
            product = product.mul(&factor);
            if !self.eat("*") {
                return Ok(product);
            }
        }
    }

    pub(super) fn tensor_type(&mut self) -> Result<TensorType, ParseError> {
        let dtype = self.dtype()?;
        self.tensor_axes(dtype)
    }

    fn tensor_axes(&mut self, dtype: DType) -> Result<TensorType, ParseError> {
        let mut axes = if self.eat("[") {
            let axes = self.list("]", Parser::poly)?;
            self.expect("]")?;
            axes
        } else {
            Vec::new()
        };
        let is_set = |s: &&Symbol| joined::is_joined(s) || !matches!(self.symbols().get(*s), Some(SymKind::Dim) | None);
        let set = axes.first().and_then(|p| p.as_symbol()).filter(is_set).cloned();
        if set.is_some() {
            axes.remove(0);
        }
        Ok(TensorType { dtype, set, dims: axes })
    }

    pub(super) fn ty(&mut self) -> Result<Type, ParseError> {
        let word = self.word()?;
        if let Ok(dtype) = word.parse() {
            return Ok(Type::Tensor(self.tensor_axes(dtype)?));
        }
        if let Some(vector) = vector_type(word) {
            return Ok(vector);
        }
        self.expect("<")?;
        let ty = match word {
            "buf" => Type::Buffer(self.tensor_type()?),
            "ptr" => Type::Ptr(self.dtype()?),
            "graph" => {
                let kind = self.word()?;
                let kind = RelKind::ALL.into_iter().find(|k| k.name() == kind);
                let kind = kind.ok_or_else(|| self.expected("a kind of relation"))?;
                self.expect(",")?;
                let src = self.word()?.into();
                self.expect("->")?;
                let dst = self.word()?.into();
                self.expect(",")?;
                Type::Rel(RelType { kind, src, dst, edges: self.word()?.into() })
            }
            _ => return Err(self.expected("a type")),
        };
        self.expect(">")?;
        Ok(ty)
    }

    pub(super) fn symbol_list(&mut self) -> Result<Symbols, ParseError> {
        let mut symbols = Symbols::new();
        if !self.eat("<") {
            return Ok(symbols);
        }
        for (name, kind) in self.list(">", Parser::symbol)? {
            if symbols.insert(name.clone(), kind).is_some() {
                return Err(self.duplicate(&name));
            }
        }
        self.expect(">")?;
        Ok(symbols)
    }

    fn symbol(&mut self) -> Result<(Symbol, SymKind), ParseError> {
        let kind = self.word()?;
        let name: Symbol = self.word()?.into();
        let kind = match kind {
            "set" => SymKind::Set,
            "edges" => SymKind::Edges,
            "dim" => SymKind::Dim,
            "bound" => {
                self.expect("=")?;
                SymKind::Bound(self.size()?)
            }
            _ => return Err(self.expected("`set`, `edges`, `dim` or `bound`")),
        };
        Ok((name, kind))
    }

    /// A size expression in quotes.
    pub(super) fn size(&mut self) -> Result<SizeExpr, ParseError> {
        match self.peek() {
            Token::Text(text) => {
                self.bump();
                SizeExpr::parse(text).map_err(|_| self.expected("a size expression"))
            }
            _ => Err(self.expected("a size expression in quotes")),
        }
    }
}

/// `v16f32`
fn vector_type(word: &str) -> Option<Type> {
    let rest = word.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let lanes: u32 = rest[..digits].parse().ok().filter(|n| (1..=64).contains(n))?;
    Some(Type::Vector(rest[digits..].parse().ok()?, lanes))
}
