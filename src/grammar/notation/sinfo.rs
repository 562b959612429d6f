//! Structural information and types.

use super::tokens::{NotationResult, Parser, Token};
use crate::grammar::{
    DataType, DeriveFunc, FuncStructInfo, Ndim, PrimExpr, PrimStructInfo, ShapeStructInfo, StructInfo, TensorShape,
    TensorStructInfo, Type, Var,
};

/// A positional argument of `Tensor`.
enum Positional {
    Dims(Vec<PrimExpr>),
    Word(Var),
    Dtype(DataType),
    Blank,
}

impl Parser<'_> {
    pub(super) fn struct_info(&mut self) -> NotationResult<StructInfo> {
        self.nested(|parser| parser.struct_info_inner())
    }

    fn struct_info_inner(&mut self) -> NotationResult<StructInfo> {
        let Token::Name(name) = *self.peek() else { return Err(self.expected("structural information")) };
        let word = name.strip_prefix("R.").unwrap_or(name);
        let scalar = name.strip_prefix("T.").and_then(|word| word.parse::<DataType>().ok());
        match (word, scalar) {
            ("Object" | "Any" | "Tensor" | "Shape" | "Prim" | "Tuple" | "Func" | "Callable", _) => {}
            (_, Some(dtype)) => {
                self.next();
                return Ok(StructInfo::prim(dtype));
            }
            (_, None) => return Err(self.expected("structural information")),
        }
        self.next();
        let has_arguments = self.accept("(");
        match (word, has_arguments) {
            ("Object" | "Any", false) => Ok(StructInfo::Object),
            ("Object" | "Any", true) => self.expect(")").map(|()| StructInfo::Object),
            ("Tensor", true) => self.tensor(),
            ("Tensor", false) => Ok(StructInfo::tensor_ndim(-1, DataType::VOID)),
            ("Shape", true) => self.shape(),
            ("Shape", false) => Ok(StructInfo::shape_ndim(-1)),
            ("Prim", true) => self.prim(),
            ("Tuple", true) => self.tuple(),
            ("Tuple", false) => Ok(StructInfo::tuple([])),
            ("Func", true) => self.func(),
            ("Callable", true) => self.callable(),
            ("Callable", false) => Ok(StructInfo::packed(DeriveFunc::DefaultDerive)),
            (_, _) => Err(self.expected("`(`")),
        }
    }

    /// The dimensions in parentheses or brackets, if there are any.
    fn bracketed_dims(&mut self) -> NotationResult<Option<Vec<PrimExpr>>> {
        if self.accept("(") {
            return self.nested(|parser| parser.dims(")")).map(Some);
        }
        if self.accept("[") {
            return self.nested(|parser| parser.dims("]")).map(Some);
        }
        Ok(None)
    }

    fn tensor(&mut self) -> NotationResult<StructInfo> {
        let mut positional = Vec::new();
        let (mut shape, mut dtype, mut ndim) = (None, None, None);
        self.list(")", |parser| {
            if parser.accept_keyword("ndim") {
                ndim = Some(parser.ndim()?);
            } else if parser.accept_keyword("dtype") {
                dtype = Some(parser.dtype()?);
            } else if parser.accept_keyword("shape") {
                shape = Some(parser.positional()?);
            } else {
                positional.push(parser.positional()?);
            }
            Ok(())
        })?;
        if shape.is_none() && (positional.len() == 2 || (positional.len() == 1 && !self.is_dtype(&positional[0]))) {
            shape = Some(positional.remove(0));
        }
        let dtype = match (dtype, positional.pop(), positional.pop()) {
            (dtype, None, None) => dtype.unwrap_or(DataType::VOID),
            (None, Some(Positional::Dtype(dtype)), None) => dtype,
            (None, Some(Positional::Blank), None) => DataType::VOID,
            (None, Some(Positional::Word(word)), None) => {
                word.to_string().parse().map_err(|_| self.expected("a data type in front"))?
            }
            (_, Some(_), _) | (_, None, Some(_)) => return Err(self.expected("a shape and a data type in front")),
        };
        let shape = match shape {
            Some(Positional::Dims(dims)) => Some(TensorShape::Dims(dims.into())),
            Some(Positional::Word(var)) => Some(TensorShape::Var(var.into())),
            Some(Positional::Blank) | None => None,
            Some(Positional::Dtype(_)) => return Err(self.expected("a shape in front")),
        };
        let implied = Ndim::implied_by(shape.as_ref());
        Ok(StructInfo::Tensor(TensorStructInfo { shape, dtype, ndim: ndim.unwrap_or(implied), vdevice: None }))
    }

    fn is_dtype(&self, positional: &Positional) -> bool {
        match positional {
            Positional::Dtype(_) => true,
            Positional::Word(word) => word.to_string().parse::<DataType>().is_ok(),
            Positional::Dims(_) | Positional::Blank => false,
        }
    }

    fn positional(&mut self) -> NotationResult<Positional> {
        if let Some(dims) = self.bracketed_dims()? {
            return Ok(Positional::Dims(dims));
        }
        match *self.peek() {
            Token::Str(_) => Ok(Positional::Dtype(self.dtype()?)),
            Token::Name("_") => {
                self.next();
                Ok(Positional::Blank)
            }
            Token::Name(name) => match Var::parse(name) {
                Some(var) if !name.contains('.') => {
                    self.next();
                    Ok(Positional::Word(var))
                }
                Some(_) | None => Ok(Positional::Dtype(self.dtype()?)),
            },
            Token::Int(_) | Token::Symbol(_) | Token::End => Err(self.expected("a shape or a data type")),
        }
    }

    fn shape(&mut self) -> NotationResult<StructInfo> {
        let (mut values, mut ndim) = (None, None);
        self.list(")", |parser| {
            if parser.accept_keyword("ndim") {
                ndim = Some(parser.ndim()?);
                return Ok(());
            }
            parser.accept_keyword("values");
            match parser.bracketed_dims()? {
                Some(dims) if values.is_none() => values = Some(dims),
                Some(_) | None => return Err(parser.expected("the dimensions in parentheses, or `ndim=`")),
            }
            Ok(())
        })?;
        let implied = values.as_ref().map_or(Ndim::Unknown, |values: &Vec<PrimExpr>| Ndim::of_len(values.len()));
        let ndim = ndim.unwrap_or(implied);
        Ok(StructInfo::Shape(ShapeStructInfo { values: values.map(Into::into), ndim }))
    }

    fn prim(&mut self) -> NotationResult<StructInfo> {
        let (mut dtype, mut value) = (None, None);
        self.list(")", |parser| {
            if parser.accept_keyword("value") {
                value = Some(parser.dim()?);
            } else {
                parser.accept_keyword("dtype");
                dtype = Some(parser.dtype()?);
            }
            Ok(())
        })?;
        match (dtype, value) {
            (None, None) => Err(self.expected("a data type in front")),
            (dtype, value) => Ok(StructInfo::Prim(PrimStructInfo { dtype: dtype.unwrap_or(DataType::INT64), value })),
        }
    }

    /// `Tuple(a, b)`, also `R.Tuple([a, b])`.
    fn tuple(&mut self) -> NotationResult<StructInfo> {
        if self.accept("[") {
            let fields = self.list("]", |parser| parser.struct_info())?;
            self.expect(")")?;
            return Ok(StructInfo::tuple(fields));
        }
        Ok(StructInfo::tuple(self.list(")", |parser| parser.struct_info())?))
    }

    /// `Func((a, b) -> c, default_derive, pure)`, `Func(packed, empty_derive)`.
    fn func(&mut self) -> NotationResult<StructInfo> {
        let (params, ret) = if self.accept_word("packed") {
            (None, StructInfo::Object)
        } else {
            self.expect("(")?;
            let params = self.list(")", |parser| parser.struct_info())?;
            self.expect("->")?;
            (Some(params.into()), self.struct_info()?)
        };
        let (mut derive_func, mut pure) = (None, None);
        while self.accept(",") {
            if self.accept_word("pure") {
                pure = Some(true);
            } else if self.accept_word("impure") {
                pure = Some(false);
            } else if self.accept_word("default_derive") {
                derive_func = Some(DeriveFunc::DefaultDerive);
            } else if self.accept_word("empty_derive") {
                derive_func = Some(DeriveFunc::EmptyDerive);
            } else if self.accept_keyword("derive_func") {
                derive_func = Some(self.derive_func()?);
            } else {
                return Err(self.expected("`pure`, `impure` or a derive_func"));
            }
        }
        self.expect(")")?;
        Ok(StructInfo::Func(FuncStructInfo { params, ret, derive_func, pure }.into()))
    }

    fn derive_func(&mut self) -> NotationResult<DeriveFunc> {
        let name = match *self.peek() {
            Token::Name(name) | Token::Str(name) => name,
            Token::Int(_) | Token::Symbol(_) | Token::End => return Err(self.expected("the name of a derive_func")),
        };
        self.next();
        Ok(match name {
            "default_derive" => DeriveFunc::DefaultDerive,
            "empty_derive" => DeriveFunc::EmptyDerive,
            other => DeriveFunc::Named(other.into()),
        })
    }

    /// `R.Callable((a, b), c, True)`.
    fn callable(&mut self) -> NotationResult<StructInfo> {
        let (mut params, mut ret, mut pure, mut derive_func) = (None, None, None, None);
        let mut position = 0;
        self.list(")", |parser| {
            if parser.accept_keyword("derive_func") {
                derive_func = Some(parser.derive_func()?);
                return Ok(());
            }
            let slot = if parser.accept_keyword("params") {
                0
            } else if parser.accept_keyword("ret") {
                1
            } else if parser.accept_keyword("purity") {
                2
            } else {
                position += 1;
                position - 1
            };
            match slot {
                0 if parser.accept("(") => params = Some(parser.list(")", |parser| parser.struct_info())?),
                0 if parser.accept("[") => params = Some(parser.list("]", |parser| parser.struct_info())?),
                0 => params = Some(vec![parser.struct_info()?]),
                1 => ret = Some(parser.struct_info()?),
                _ if parser.accept_word("True") => pure = Some(true),
                _ if parser.accept_word("False") => pure = Some(false),
                _ => return Err(parser.expected("`True` or `False`")),
            }
            Ok(())
        })?;
        let derive_func = derive_func.or_else(|| params.is_none().then_some(DeriveFunc::DefaultDerive));
        let ret = ret.unwrap_or(StructInfo::Object);
        Ok(StructInfo::Func(FuncStructInfo { params: params.map(Into::into), ret, derive_func, pure }.into()))
    }

    pub(super) fn ty(&mut self) -> NotationResult<Type> {
        self.nested(|parser| parser.ty_inner())
    }

    fn ty_inner(&mut self) -> NotationResult<Type> {
        match self.next() {
            Token::Name("Object") => Ok(Type::Object),
            Token::Name("PackedFunc") => Ok(Type::PackedFunc),
            Token::Name("Tensor") => {
                self.expect("(")?;
                let ndim = self.ndim()?;
                self.expect(",")?;
                let dtype = self.dtype()?;
                self.expect(")")?;
                Ok(Type::Tensor(crate::grammar::DynTensorType { ndim, dtype }))
            }
            Token::Name("Shape") => {
                self.expect("(")?;
                let ndim = self.ndim()?;
                self.expect(")")?;
                Ok(Type::Shape(crate::grammar::ShapeType { ndim }))
            }
            Token::Name("Tuple") => {
                self.expect("(")?;
                Ok(Type::tuple(self.list(")", |parser| parser.ty())?))
            }
            Token::Name("Func") => self.func_type(),
            _ => Err(self.expected("a type in front")),
        }
    }

    /// `Func((a, b) -> c, pure)`. Without a purity it is impure, as is the type of information without one
    /// (TYPE.ERASE.FUNC.IMPURE).
    fn func_type(&mut self) -> NotationResult<Type> {
        self.expect("(")?;
        self.expect("(")?;
        let arg_types = self.list(")", |parser| parser.ty())?;
        self.expect("->")?;
        let ret_type = self.ty()?;
        let pure = if !self.accept(",") || self.accept_word("impure") {
            false
        } else if self.accept_word("pure") {
            true
        } else {
            return Err(self.expected("`pure` or `impure`"));
        };
        self.expect(")")?;
        Ok(Type::func(arg_types, ret_type, pure))
    }
}
