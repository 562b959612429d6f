//! Random programs of Relay, drawn from a tape. They are well-typed by construction, with closures, conditionals,
//! recursion, tuples and polymorphic definitions. The arguments are such that the run is defined.

use std::sync::Arc;

use crate::generate::Tape;
use relax_spec::grammar::{AttrValue, Attrs, DataType, Name, Span, TensorData};
use relax_spec::relay::{
    BaseType, Binding, Call, Definition, Expr, ExprKind, Function, If, Kind, Param, Program, RelayDim, RelayNotation,
    Shape, TensorTypeExpr, TypeExpr, TypeKind, TypeParam,
};
use relax_spec::value::ValueSpec;

/// The type of a drawn value.
#[derive(Clone, PartialEq, Debug)]
enum Ty {
    Tensor(DataType, Vec<i64>),
    Pair(Box<Ty>, Box<Ty>),
}

/// A program with a function `main`, and arguments for it.
pub fn program(tape: &mut Tape) -> (Program, Vec<ValueSpec>) {
    let notation = if tape.one_in(2) { RelayNotation::Printed } else { RelayNotation::Introduced };
    let mut draw = RelayGenerator { tape, scope: Vec::new(), helpers: Vec::new(), names: 0 };
    let mut definitions = draw.helpers();
    let params: Vec<Ty> = (0..1 + draw.tape.choose(3)).map(|_| draw.tensor()).collect();
    let named: Vec<(Name, Ty)> = params.into_iter().map(|ty| (draw.name(), ty)).collect();
    named.iter().for_each(|(name, ty)| draw.push(name, ty));
    let result = draw.ty();
    let body = draw.block(&result, 4);
    let said = draw.tape.one_in(2).then(|| written(&result));
    let params = named.iter().map(|(name, ty)| param(name, Some(ty))).collect();
    definitions.push(definition("main", function(params, said, body)));
    let args = named.iter().map(|(_, ty)| draw.argument(ty)).collect();
    (Program { notation, version: None, definitions }, args)
}

fn definition(name: &str, function: Function) -> Definition {
    Definition { name: name.into(), function: Arc::new(function), attributes: None, span: Span::NONE }
}

fn param(name: &Name, ty: Option<&Ty>) -> Param {
    Param { name: name.clone(), annotation: ty.map(written), span: Span::NONE }
}

fn written(ty: &Ty) -> TypeExpr {
    match ty {
        Ty::Tensor(dtype, dims) => TypeExpr::tensor(*dtype, dims.iter().copied().map(RelayDim::Known).collect()),
        Ty::Pair(a, b) => TypeExpr::new(TypeKind::Tuple(vec![written(a), written(b)])),
    }
}

/// The parameters and the result of a definition that can be called.
#[derive(Clone)]
enum Helper {
    /// From a type to the same type.
    Of(Ty),
    /// Returns its argument, of any type.
    Same,
    /// Returns the sum of its argument with itself.
    Double,
    /// Applies its first argument to its second.
    Apply,
    /// Doubles its second argument as often as the first says.
    Repeat(Ty),
}

/// A variable in scope: a value of a type, or a function from a type to itself.
#[derive(Clone, PartialEq)]
enum Local {
    Value(Ty),
    Function(Ty),
}

struct RelayGenerator<'t> {
    tape: &'t mut Tape,
    /// The variables in scope, the innermost last.
    scope: Vec<(Name, Local)>,
    helpers: Vec<(Name, Helper)>,
    names: usize,
}

fn function(params: Vec<Param>, result: Option<TypeExpr>, body: Expr) -> Function {
    Function { type_params: Vec::new(), params, attrs: Attrs::new(), result, body }
}

/// A function whose parameters are not annotated.
fn unannotated(params: &[&Name], body: Expr) -> Function {
    function(params.iter().map(|name| param(name, None)).collect(), None, body)
}

fn operator(name: &str, args: Vec<Expr>) -> Expr {
    Expr::operator(name, args, Attrs::new())
}

fn with_attr(name: &str, args: Vec<Expr>, key: &str, value: AttrValue) -> Expr {
    Expr::operator(name, args, Attrs::from([(key.into(), value)]))
}

fn call(callee: Expr, args: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Call(Box::new(Call { callee, args, attrs: Attrs::new() })))
}

fn global(name: &Name) -> Expr {
    Expr::new(ExprKind::Global(name.clone()))
}

fn ints(sizes: impl IntoIterator<Item = i64>) -> AttrValue {
    AttrValue::List(sizes.into_iter().map(AttrValue::Int).collect())
}

impl RelayGenerator<'_> {
    fn name(&mut self) -> Name {
        self.names += 1;
        format!("v{}", self.names).as_str().into()
    }

    fn push(&mut self, name: &Name, ty: &Ty) {
        self.scope.push((name.clone(), Local::Value(ty.clone())));
    }

    /// A variable in scope of exactly this kind.
    fn pick(&mut self, wanted: &Local) -> Option<Name> {
        let fitting: Vec<&Name> =
            self.scope.iter().filter(|(_, local)| local == wanted).map(|(name, _)| name).collect();
        self.tape.pick(&fitting).map(|name| (*name).clone())
    }

    fn dtype(&mut self) -> DataType {
        if self.tape.one_in(3) { DataType::INT32 } else { DataType::FLOAT32 }
    }

    fn tensor(&mut self) -> Ty {
        let dtype = self.dtype();
        let shapes: [&[i64]; 7] = [&[2], &[], &[3], &[2, 3], &[3, 2], &[1, 3], &[2, 2]];
        Ty::Tensor(dtype, self.tape.pick(&shapes).map(|dims| dims.to_vec()).unwrap_or_default())
    }

    fn ty(&mut self) -> Ty {
        if self.tape.one_in(4) { Ty::Pair(Box::new(self.tensor()), Box::new(self.tensor())) } else { self.tensor() }
    }

    /// Definitions that `main` may call.
    fn helpers(&mut self) -> Vec<Definition> {
        let mut definitions = Vec::new();
        for i in 0..self.tape.choose(4) {
            let name: Name = format!("helper{i}").as_str().into();
            let (helper, function) = match self.tape.choose(5) {
                0 => self.of_one_type(),
                1 => (Helper::Same, self.same()),
                2 => (Helper::Double, self.double()),
                3 => (Helper::Apply, self.apply()),
                _ => self.repeat(&name),
            };
            definitions.push(definition(&name, function));
            self.helpers.push((name, helper));
        }
        definitions
    }

    fn of_one_type(&mut self) -> (Helper, Function) {
        let ty = self.tensor();
        let own = self.name();
        let outer = std::mem::replace(&mut self.scope, vec![(own.clone(), Local::Value(ty.clone()))]);
        let body = self.block(&ty, 3);
        self.scope = outer;
        let result = self.tape.one_in(2).then(|| written(&ty));
        let function = function(vec![param(&own, Some(&ty))], result, body);
        (Helper::Of(ty), function)
    }

    fn same(&mut self) -> Function {
        let own = self.name();
        let mut function = unannotated(&[&own], Expr::local(&own));
        if self.tape.one_in(2) {
            let kinds = [("s", Kind::Shape), ("bt", Kind::BaseType)];
            function.type_params = kinds.map(|(n, kind)| TypeParam { name: n.into(), kind, span: Span::NONE }).to_vec();
            let of = TensorTypeExpr { base: BaseType::Param("bt".into()), shape: Shape::Param("s".into()) };
            if let Some(param) = function.params.first_mut() {
                param.annotation = Some(TypeExpr::new(TypeKind::Tensor(of)));
            }
        }
        function
    }

    fn double(&mut self) -> Function {
        let own = self.name();
        unannotated(&[&own], operator("add", vec![Expr::local(&own), Expr::local(&own)]))
    }

    fn apply(&mut self) -> Function {
        let (f, x) = (self.name(), self.name());
        unannotated(&[&f, &x], call(Expr::local(&f), vec![Expr::local(&x)]))
    }

    fn repeat(&mut self, name: &Name) -> (Helper, Function) {
        let ty = self.tensor();
        let (n, x) = (self.name(), self.name());
        let condition = operator("less_equal", vec![Expr::local(&n), int(0)]);
        let fewer = operator("subtract", vec![Expr::local(&n), int(1)]);
        let twice = operator("add", vec![Expr::local(&x), Expr::local(&x)]);
        let otherwise = call(global(name), vec![fewer, twice]);
        let params = vec![param(&n, Some(&scalar(DataType::INT32))), param(&x, Some(&ty))];
        let function = function(params, Some(written(&ty)), choice(condition, Expr::local(&x), otherwise));
        (Helper::Repeat(ty), function)
    }

    /// Bindings, then an expression of the type.
    fn block(&mut self, ty: &Ty, depth: usize) -> Expr {
        let mark = self.scope.len();
        let mut bindings = Vec::new();
        for _ in 0..self.tape.choose(4) {
            let name = self.name();
            if self.tape.one_in(5) {
                let ty = self.tensor();
                let value = self.function(&ty, depth.saturating_sub(1));
                bindings.push(Binding { var: param(&name, None), value });
                self.scope.push((name, Local::Function(ty)));
            } else {
                let ty = self.ty();
                let value = self.expr(&ty, depth.saturating_sub(1));
                let annotation = self.tape.one_in(4).then_some(&ty);
                bindings.push(Binding { var: param(&name, annotation), value });
                self.push(&name, &ty);
            }
        }
        let result = self.expr(ty, depth);
        self.scope.truncate(mark);
        if bindings.is_empty() { result } else { Expr::new(ExprKind::Let(bindings, Box::new(result))) }
    }

    /// A function literal from a type to itself, which can use the variables around it.
    fn function(&mut self, ty: &Ty, depth: usize) -> Expr {
        let own = self.name();
        self.push(&own, ty);
        let body = self.block(ty, depth);
        self.scope.pop();
        Expr::new(ExprKind::Function(Arc::new(function(vec![param(&own, Some(ty))], None, body))))
    }

    fn expr(&mut self, ty: &Ty, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        match self.tape.choose(8) {
            0 => self.leaf(ty),
            1 => self.conditional(ty, depth - 1),
            2 => self.called(ty, depth - 1),
            3 => self.projected(ty, depth - 1),
            _ => match ty {
                Ty::Tensor(dtype, dims) => self.operated(*dtype, dims, depth - 1),
                Ty::Pair(a, b) => tuple(vec![self.expr(a, depth - 1), self.expr(b, depth - 1)]),
            },
        }
    }

    /// A variable, or an expression of constants.
    fn leaf(&mut self, ty: &Ty) -> Expr {
        if let Some(name) = self.pick(&Local::Value(ty.clone())) {
            return Expr::local(&name);
        }
        match ty {
            Ty::Pair(a, b) => tuple(vec![self.leaf(a), self.leaf(b)]),
            Ty::Tensor(dtype, dims) => {
                let number = i32::try_from(self.tape.choose(7)).unwrap_or(0) - 3;
                let element = number_of(*dtype, f64::from(number));
                match dims.is_empty() {
                    true => element,
                    false => with_attr("broadcast_to", vec![element], "shape", ints(dims.iter().copied())),
                }
            }
        }
    }

    fn conditional(&mut self, ty: &Ty, depth: usize) -> Expr {
        let ty_of_both = scalar(self.dtype());
        let name = ["less", "equal", "greater_equal"][self.tape.choose(3)];
        let condition = operator(name, vec![self.expr(&ty_of_both, depth), self.expr(&ty_of_both, 0)]);
        choice(condition, self.block(ty, depth), self.block(ty, depth))
    }

    fn called(&mut self, ty: &Ty, depth: usize) -> Expr {
        if let Some(name) = self.pick(&Local::Function(ty.clone())) {
            return call(Expr::local(&name), vec![self.expr(ty, depth)]);
        }
        let tensor = matches!(ty, Ty::Tensor(..));
        let fits = |(_, helper): &&(Name, Helper)| match helper {
            Helper::Of(of) | Helper::Repeat(of) => of == ty,
            Helper::Same | Helper::Double | Helper::Apply => tensor,
        };
        let fitting: Vec<(Name, Helper)> = self.helpers.iter().filter(fits).cloned().collect();
        let Some((name, helper)) = self.tape.pick(&fitting) else { return self.leaf(ty) };
        let first = match helper {
            Helper::Of(_) | Helper::Same | Helper::Double => None,
            Helper::Apply => Some(self.function(ty, depth)),
            Helper::Repeat(_) => Some(int(i32::try_from(self.tape.choose(4)).unwrap_or(0))),
        };
        call(global(name), first.into_iter().chain([self.expr(ty, depth)]).collect())
    }

    fn projected(&mut self, ty: &Ty, depth: usize) -> Expr {
        let other = self.tensor();
        let both = tuple(vec![self.expr(ty, depth), self.expr(&other, 0)]);
        Expr::new(ExprKind::Project(Box::new(both), 0))
    }

    fn operated(&mut self, dtype: DataType, dims: &[i64], depth: usize) -> Expr {
        let ty = Ty::Tensor(dtype, dims.to_vec());
        match self.tape.choose(7) {
            0 | 1 => {
                let name = ["add", "subtract", "multiply", "maximum", "minimum"][self.tape.choose(5)];
                operator(name, vec![self.expr(&ty, depth), self.expr(&ty, depth)])
            }
            2 => operator("add", vec![self.expr(&ty, depth), self.expr(&scalar(dtype), depth)]),
            3 => {
                let among = if dtype == DataType::FLOAT32 { self.tape.choose(4) } else { 0 };
                let name = ["negative", "tanh", "nn.relu", "sigmoid"][among];
                operator(name, vec![self.expr(&ty, depth)])
            }
            4 => {
                let reversed = Ty::Tensor(dtype, dims.iter().rev().copied().collect());
                operator("transpose", vec![self.expr(&reversed, depth)])
            }
            5 => {
                let longer = Ty::Tensor(dtype, [&[2], dims].concat());
                with_attr("sum", vec![self.expr(&longer, depth)], "axis", ints([0]))
            }
            _ => match (dtype, dims) {
                (DataType::FLOAT32, [n, m]) => {
                    let data = Ty::Tensor(dtype, vec![*n, 2]);
                    let weights = Ty::Tensor(dtype, vec![*m, 2]);
                    operator("nn.dense", vec![self.expr(&data, depth), self.expr(&weights, depth)])
                }
                (DataType::FLOAT32, _) => {
                    let whole = Ty::Tensor(DataType::INT32, dims.to_vec());
                    with_attr("cast", vec![self.expr(&whole, depth)], "dtype", AttrValue::Str("float32".into()))
                }
                (_, [n, rest @ ..]) if *n > 1 => {
                    let part = |n: i64| Ty::Tensor(dtype, [&[n], rest].concat());
                    let parts = vec![self.expr(&part(1), depth), self.expr(&part(n - 1), depth)];
                    with_attr("concatenate", vec![tuple(parts)], "axis", AttrValue::Int(0))
                }
                (_, _) => self.leaf(&ty),
            },
        }
    }

    fn argument(&mut self, ty: &Ty) -> ValueSpec {
        match ty {
            Ty::Tensor(dtype, dims) => {
                let sizes: Vec<u64> = dims.iter().map(|size| u64::try_from(*size).unwrap_or(0)).collect();
                let count: u64 = sizes.iter().product();
                let values: Vec<f64> = (0..count).map(|_| self.tape.choose(9) as f64 - 4.0).collect();
                TensorData::from_values(*dtype, &sizes, &values).map_or(ValueSpec::Object, ValueSpec::Tensor)
            }
            Ty::Pair(a, b) => ValueSpec::Tuple(vec![self.argument(a), self.argument(b)]),
        }
    }
}

fn scalar(dtype: DataType) -> Ty {
    Ty::Tensor(dtype, Vec::new())
}

fn tuple(fields: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Tuple(fields))
}

fn choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::new(ExprKind::If(Box::new(If { condition, then, otherwise })))
}

fn int(value: i32) -> Expr {
    number_of(DataType::INT32, value.into())
}

fn number_of(dtype: DataType, value: f64) -> Expr {
    let data = TensorData::from_values(dtype, &[], &[value]);
    data.map_or_else(|_| tuple(Vec::new()), |data| Expr::new(ExprKind::Constant(data)))
}
