//! Equality of programs up to the names and numbers of variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, Call, DataType, Expr, Function, GlobalFunc, IrModule, Name,
    PrimExpr, PrimValue, ShapeVar, StructInfo, TensorShape, Var,
};
use crate::judge::with_stack;
use crate::ops::{OpParam, lookup};

/// Whether two programs differ at most in the names of variables. The names of global functions must agree.
pub fn same_program(m1: &IrModule, m2: &IrModule) -> bool {
    same_up_to(m1, m2, Annotations::Written)
}

/// Whether the program that an implementation reads from a text is the program of the text. The implementation may add
/// derived annotations where the text has none or where the result of a function leaves them open. It may omit defaults
/// and the annotation of a variable whose information it stores elsewhere.
pub fn same_as_read(expected: &IrModule, given: &IrModule) -> bool {
    same_up_to(expected, given, Annotations::Derived)
}

/// Which annotations count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Annotations {
    /// All annotations, and that they are absent.
    #[default]
    Written,
    /// Those that both have.
    Derived,
}

fn same_up_to(m1: &IrModule, m2: &IrModule, annotations: Annotations) -> bool {
    // The order of the functions of a module does not matter, except among functions of the same name.
    let sorted = |module: &IrModule| {
        let mut funcs = module.funcs.clone();
        funcs.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        funcs
    };
    let (funcs1, funcs2) = (sorted(m1), sorted(m2));
    // Where devices are used they are compared; an answer need not list those of the module.
    let untold = annotations == Annotations::Derived && m2.global_infos.is_empty();
    m1.attrs == m2.attrs
        && (untold || m1.global_infos == m2.global_infos)
        && funcs1.len() == funcs2.len()
        && funcs1.iter().zip(&funcs2).all(|((gv1, f1), (gv2, f2))| gv1 == gv2 && same_global(f1, f2, annotations))
}

fn same_global(f1: &GlobalFunc, f2: &GlobalFunc, annotations: Annotations) -> bool {
    match (f1, f2) {
        (GlobalFunc::Function(f1), GlobalFunc::Function(f2)) => {
            Pairing { annotations, ..Pairing::default() }.function(f1, f2)
        }
        (GlobalFunc::PrimFunc(f1), GlobalFunc::PrimFunc(f2)) => f1 == f2,
        (GlobalFunc::ExternFunc(f1), GlobalFunc::ExternFunc(f2)) => f1 == f2,
        (GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_), _) => false,
    }
}

/// The pairs of corresponding variables of two functions, one to one.
#[derive(Default)]
struct Pairing {
    vars: OneToOne<Var>,
    shape_vars: OneToOne<ShapeVar>,
    annotations: Annotations,
}

struct OneToOne<T> {
    forth: BTreeMap<T, T>,
    back: BTreeMap<T, T>,
}

impl<T> Default for OneToOne<T> {
    fn default() -> OneToOne<T> {
        OneToOne { forth: BTreeMap::new(), back: BTreeMap::new() }
    }
}

impl<T: Ord + Clone> OneToOne<T> {
    /// Pairs two variables when they first meet. Later, each must meet the other again.
    fn meet(&mut self, a: &T, b: &T) -> bool {
        match (self.forth.get(a), self.back.get(b)) {
            (None, None) => {
                self.forth.insert(a.clone(), b.clone());
                self.back.insert(b.clone(), a.clone());
                true
            }
            (Some(partner), Some(_)) => partner == b,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// Whether two lists agree item by item.
fn all<T>(l1: &[T], l2: &[T], mut same: impl FnMut(&T, &T) -> bool) -> bool {
    l1.len() == l2.len() && l1.iter().zip(l2).all(|(a, b)| same(a, b))
}

/// Whether two options agree.
fn both<T>(o1: Option<&T>, o2: Option<&T>, same: impl FnOnce(&T, &T) -> bool) -> bool {
    match (o1, o2) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The attributes of a call with those that it leaves out, spelled out, and without those that have no value or name no
/// data type.
fn completed(call: &Call) -> Attrs {
    let op = if let Expr::Op(op) = &call.op { lookup(&op.op_name) } else { None };
    let mut attrs = op.and_then(|op| op.spelled_out(call)).unwrap_or_else(|| call.attrs.clone());
    attrs.retain(|_, value| !matches!(value, AttrValue::None | AttrValue::DataType(DataType::VOID)));
    attrs
}

/// The flags behind the last argument of a call, with their defaults.
fn omitted_flags(call: &Call) -> impl Iterator<Item = Expr> {
    let op = if let Expr::Op(op) = &call.op { lookup(&op.op_name) } else { None };
    let behind = op.into_iter().flat_map(|op| op.params).skip(call.args.len());
    behind.map_while(|param| match param {
        OpParam::Flag(_, default) => {
            let value = PrimExpr::IntImm(i64::from(*default));
            Some(Expr::PrimValue(PrimValue { value, dtype: DataType::BOOL, float: None, span: call.span }))
        }
        OpParam::Arg(_)
        | OpParam::OptionalArg(_)
        | OpParam::ShapeArg(_)
        | OpParam::DtypeArg(_)
        | OpParam::Rest(_)
        | OpParam::Attr(_) => None,
    })
}

impl Pairing {
    fn function(&mut self, f1: &Function, f2: &Function) -> bool {
        all(&f1.params, &f2.params, |b1, b2| self.binder(b1, b2))
            && self.result(f1.ret_struct_info.as_ref(), f2.ret_struct_info.as_ref())
            && self.purity(f1.pure, f2.pure)
            && self.attrs_of_functions(&f1.attrs, &f2.attrs)
            && self.expr(&f1.body, &f2.body)
    }

    /// That a function is pure need not be said.
    fn purity(&self, p1: Option<bool>, p2: Option<bool>) -> bool {
        let derived = self.annotations == Annotations::Derived;
        p1 == p2 || derived && p1.is_none() && p2 == Some(true)
    }

    /// PURE.ATTR.REPR: `force_pure` has two spellings.
    fn attrs_of_functions(&mut self, a1: &Attrs, a2: &Attrs) -> bool {
        if self.annotations == Annotations::Written {
            return self.attrs(a1, a2);
        }
        let spelt = |attrs: &Attrs| {
            let name = |name: &Name| if **name == *"relax.force_pure" { "force_pure".into() } else { name.clone() };
            attrs.iter().map(|(key, value)| (name(key), value.clone())).collect::<Attrs>()
        };
        self.attrs(&spelt(a1), &spelt(a2))
    }

    /// An attribute that has its default may be left out.
    fn attrs_of_calls(&mut self, c1: &Call, c2: &Call) -> bool {
        if self.annotations == Annotations::Written {
            return self.attrs(&c1.attrs, &c2.attrs);
        }
        self.attrs(&completed(c1), &completed(c2))
    }

    fn annotation(&mut self, s1: Option<&StructInfo>, s2: Option<&StructInfo>) -> bool {
        let derived = self.annotations == Annotations::Derived && (s1.is_none() || s2.is_none());
        derived || both(s1, s2, |s1, s2| self.struct_info(s1, s2))
    }

    /// What a function returns: callers see what is derived of the body where that says more.
    fn result(&mut self, s1: Option<&StructInfo>, s2: Option<&StructInfo>) -> bool {
        match (self.annotations, s1, s2) {
            (Annotations::Derived, Some(s1), Some(s2)) => self.at_least(s1, s2),
            (Annotations::Derived | Annotations::Written, s1, s2) => self.annotation(s1, s2),
        }
    }

    /// Whether the second says what the first says, and beyond it only what the first leaves open.
    fn at_least(&mut self, s1: &StructInfo, s2: &StructInfo) -> bool {
        with_stack(|| match (s1, s2) {
            (StructInfo::Object, _) => true,
            (StructInfo::Tensor(t1), StructInfo::Tensor(t2)) => {
                (t1.dtype.is_void() || t1.dtype == t2.dtype)
                    && (t1.ndim.is_unknown() || t1.ndim == t2.ndim)
                    && (t1.vdevice.is_none() || t1.vdevice == t2.vdevice)
                    && self.open_or_same(t1.shape.as_ref(), t2.shape.as_ref(), Self::tensor_shape)
            }
            (StructInfo::Shape(t1), StructInfo::Shape(t2)) => {
                (t1.ndim.is_unknown() || t1.ndim == t2.ndim)
                    && self.open_or_same(t1.values.as_ref(), t2.values.as_ref(), |p, a, b| p.dims(a, b))
            }
            (StructInfo::Prim(p1), StructInfo::Prim(p2)) => {
                p1.dtype == p2.dtype && self.open_or_same(p1.value.as_ref(), p2.value.as_ref(), Self::prim_expr)
            }
            (StructInfo::Tuple(f1), StructInfo::Tuple(f2)) => all(f1, f2, |a, b| self.at_least(a, b)),
            (
                StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
                s2,
            ) => self.struct_info(s1, s2),
        })
    }

    /// Whether the first is left open, or both agree.
    fn open_or_same<T>(&mut self, o1: Option<&T>, o2: Option<&T>, same: fn(&mut Self, &T, &T) -> bool) -> bool {
        o1.is_none() || both(o1, o2, |a, b| same(self, a, b))
    }

    /// A cast whose result has no name may get one, which nothing uses then.
    fn cast_var(&mut self, b1: Option<&Binder>, b2: Option<&Binder>) -> bool {
        self.annotations == Annotations::Derived && b1.is_none() || both(b1, b2, |a, b| self.binder(a, b))
    }

    /// A flag that has its default may be left out.
    fn arguments(&mut self, c1: &Call, c2: &Call) -> bool {
        if self.annotations == Annotations::Written {
            return all(&c1.args, &c2.args, |a, b| self.expr(a, b));
        }
        let [given, read] =
            [c1, c2].map(|call| call.args.iter().cloned().chain(omitted_flags(call)).collect::<Vec<_>>());
        all(&given, &read, |a, b| self.expr(a, b))
    }

    fn binder(&mut self, b1: &Binder, b2: &Binder) -> bool {
        b1.kind == b2.kind
            && self.vars.meet(&b1.var, &b2.var)
            && self.annotation(b1.annotation.as_ref(), b2.annotation.as_ref())
    }

    fn expr(&mut self, e1: &Expr, e2: &Expr) -> bool {
        with_stack(|| match (e1, e2) {
            (Expr::Var(v1), Expr::Var(v2)) | (Expr::DataflowVar(v1), Expr::DataflowVar(v2)) => self.vars.meet(v1, v2),
            (Expr::Tuple(t1), Expr::Tuple(t2)) => all(&t1.fields, &t2.fields, |a, b| self.expr(a, b)),
            (Expr::SeqExpr(s1), Expr::SeqExpr(s2)) => {
                all(&s1.blocks, &s2.blocks, |a, b| self.block(a, b)) && self.expr(&s1.body, &s2.body)
            }
            (Expr::PrimValue(p1), Expr::PrimValue(p2)) => {
                p1.dtype == p2.dtype && p1.float == p2.float && self.prim_expr(&p1.value, &p2.value)
            }
            (Expr::Function(f1), Expr::Function(f2)) => self.function(f1, f2),
            (Expr::If(i1), Expr::If(i2)) => {
                self.expr(&i1.cond, &i2.cond)
                    && self.expr(&i1.true_branch, &i2.true_branch)
                    && self.expr(&i1.false_branch, &i2.false_branch)
            }
            (Expr::Call(c1), Expr::Call(c2)) => {
                self.expr(&c1.op, &c2.op)
                    && self.arguments(c1, c2)
                    && all(&c1.sinfo_args, &c2.sinfo_args, |a, b| self.struct_info(a, b))
                    && self.attrs_of_calls(c1, c2)
            }
            (Expr::ShapeExpr(s1), Expr::ShapeExpr(s2)) => self.dims(&s1.values, &s2.values),
            (Expr::TupleGetItem(g1), Expr::TupleGetItem(g2)) => {
                g1.index == g2.index && self.expr(&g1.tuple_value, &g2.tuple_value)
            }
            (Expr::Constant(c1), Expr::Constant(c2)) => c1 == c2,
            (Expr::GlobalVar(g1), Expr::GlobalVar(g2)) => g1 == g2,
            (Expr::StringImm(i1), Expr::StringImm(i2)) => i1 == i2,
            (Expr::DataTypeImm(i1), Expr::DataTypeImm(i2)) => i1 == i2,
            (Expr::ExternFunc(x1), Expr::ExternFunc(x2)) => x1 == x2,
            (Expr::Op(o1), Expr::Op(o2)) => o1 == o2,
            (
                Expr::Constant(_)
                | Expr::Var(_)
                | Expr::DataflowVar(_)
                | Expr::GlobalVar(_)
                | Expr::Tuple(_)
                | Expr::SeqExpr(_)
                | Expr::PrimValue(_)
                | Expr::StringImm(_)
                | Expr::DataTypeImm(_)
                | Expr::Function(_)
                | Expr::If(_)
                | Expr::ExternFunc(_)
                | Expr::Call(_)
                | Expr::ShapeExpr(_)
                | Expr::TupleGetItem(_)
                | Expr::Op(_),
                _,
            ) => false,
        })
    }

    fn block(&mut self, b1: &BindingBlock, b2: &BindingBlock) -> bool {
        b1.kind == b2.kind && all(&b1.bindings, &b2.bindings, |a, b| self.binding(a, b))
    }

    fn binding(&mut self, b1: &Binding, b2: &Binding) -> bool {
        match (b1, b2) {
            // The value comes first: a function that calls itself uses its variable before the binding ends.
            (Binding::VarBinding(b1), Binding::VarBinding(b2)) => {
                self.expr(&b1.value, &b2.value) && self.binder(&b1.var, &b2.var)
            }
            (Binding::MatchCast(b1), Binding::MatchCast(b2)) => {
                self.expr(&b1.value, &b2.value)
                    && self.struct_info(&b1.struct_info, &b2.struct_info)
                    && self.cast_var(b1.var.as_ref(), b2.var.as_ref())
            }
            (Binding::VarBinding(_) | Binding::MatchCast(_), _) => false,
        }
    }

    fn struct_info(&mut self, s1: &StructInfo, s2: &StructInfo) -> bool {
        with_stack(|| match (s1, s2) {
            (StructInfo::Object, StructInfo::Object) => true,
            (StructInfo::Tensor(t1), StructInfo::Tensor(t2)) => {
                t1.dtype == t2.dtype
                    && t1.ndim == t2.ndim
                    && t1.vdevice == t2.vdevice
                    && both(t1.shape.as_ref(), t2.shape.as_ref(), |a, b| self.tensor_shape(a, b))
            }
            (StructInfo::Shape(t1), StructInfo::Shape(t2)) => {
                t1.ndim == t2.ndim && both(t1.values.as_ref(), t2.values.as_ref(), |a, b| self.dims(a, b))
            }
            (StructInfo::Prim(p1), StructInfo::Prim(p2)) => {
                p1.dtype == p2.dtype && both(p1.value.as_ref(), p2.value.as_ref(), |a, b| self.prim_expr(a, b))
            }
            (StructInfo::Tuple(f1), StructInfo::Tuple(f2)) => all(f1, f2, |a, b| self.struct_info(a, b)),
            (StructInfo::Func(f1), StructInfo::Func(f2)) => {
                let params = |a: &Arc<[StructInfo]>, b: &Arc<[StructInfo]>| all(a, b, |a, b| self.struct_info(a, b));
                both(f1.params.as_ref(), f2.params.as_ref(), params)
                    && f1.derive_func == f2.derive_func
                    && (f1.pure == f2.pure || self.annotations == Annotations::Derived && f1.purity() == f2.purity())
                    && self.struct_info(&f1.ret, &f2.ret)
            }
            (
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
                _,
            ) => false,
        })
    }

    fn tensor_shape(&mut self, s1: &TensorShape, s2: &TensorShape) -> bool {
        match (s1, s2) {
            (TensorShape::Dims(d1), TensorShape::Dims(d2)) => self.dims(d1, d2),
            (TensorShape::Var(v1), TensorShape::Var(v2))
            | (TensorShape::DataflowVar(v1), TensorShape::DataflowVar(v2)) => self.vars.meet(v1, v2),
            (TensorShape::Other(e1), TensorShape::Other(e2)) => self.expr(e1, e2),
            (TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_), _) => {
                false
            }
        }
    }

    fn dims(&mut self, d1: &[PrimExpr], d2: &[PrimExpr]) -> bool {
        all(d1, d2, |a, b| self.prim_expr(a, b))
    }

    fn prim_expr(&mut self, e1: &PrimExpr, e2: &PrimExpr) -> bool {
        with_stack(|| match (e1, e2) {
            (PrimExpr::Var(v1), PrimExpr::Var(v2)) => self.shape_vars.meet(v1, v2),
            (PrimExpr::IntImm(i1), PrimExpr::IntImm(i2)) => i1 == i2,
            (PrimExpr::Binary(op1, a1, b1), PrimExpr::Binary(op2, a2, b2)) => {
                op1 == op2 && self.prim_expr(a1, a2) && self.prim_expr(b1, b2)
            }
            (PrimExpr::Not(a1), PrimExpr::Not(a2)) => self.prim_expr(a1, a2),
            (PrimExpr::Select(c1, t1, f1), PrimExpr::Select(c2, t2, f2)) => {
                self.prim_expr(c1, c2) && self.prim_expr(t1, t2) && self.prim_expr(f1, f2)
            }
            (
                PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..),
                _,
            ) => false,
        })
    }

    fn attrs(&mut self, a1: &Attrs, a2: &Attrs) -> bool {
        a1.len() == a2.len() && a1.iter().zip(a2).all(|((k1, v1), (k2, v2))| k1 == k2 && self.attr(v1, v2))
    }

    fn attr(&mut self, v1: &AttrValue, v2: &AttrValue) -> bool {
        with_stack(|| {
            if let (AttrValue::Prim(e1), AttrValue::Prim(e2)) = (v1, v2) {
                self.prim_expr(e1, e2)
            } else if let (AttrValue::StructInfo(s1), AttrValue::StructInfo(s2)) = (v1, v2) {
                self.struct_info(s1, s2)
            } else if let (AttrValue::List(l1), AttrValue::List(l2)) = (v1, v2) {
                all(l1, l2, |a, b| self.attr(a, b))
            } else if let (AttrValue::Dict(d1), AttrValue::Dict(d2)) = (v1, v2) {
                self.attrs(d1, d2)
            } else {
                v1 == v2
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tvmscript::parse_module;

    fn same(a: &str, b: &str) -> bool {
        let program = |params: &str| format!("@R.function\ndef main({params}):\n    z = R.add(x, y)\n    return z\n");
        same_program(&parse_module(&program(a)).unwrap(), &parse_module(&program(b)).unwrap())
    }

    /// What an implementation that spells attributes out has read is the program.
    #[test]
    fn attributes_have_several_spellings() {
        let program = |call: &str| {
            let text = format!("@R.function\ndef main(x: R.Tensor((1, 1, 4, 4), \"float32\")):\n    return R.{call}\n");
            parse_module(&text).unwrap()
        };
        let read = |a: &str, b: &str| same_as_read(&program(a), &program(b));
        assert!(read("sum(x, axis=0)", "sum(x, axis=[0])"));
        assert!(read("triu(x, k=T.int64(1))", "triu(x, k=1)"));
        assert!(read("nn.leakyrelu(x, alpha=1)", "nn.leakyrelu(x, alpha=1.0)"));
        assert!(read("nn.conv2d(x, x, padding=1)", "nn.conv2d(x, x, padding=[1, 1, 1, 1], strides=[1, 1])"));
        assert!(read("nn.conv2d(x, x, padding=[1, 2])", "nn.conv2d(x, x, padding=[1, 2, 1, 2])"));
        assert!(read("nn.max_pool2d(x, 2)", "nn.max_pool2d(x, pool_size=[2, 2])"));
        assert!(!read("nn.conv2d(x, x, padding=[1, 2])", "nn.conv2d(x, x, padding=[1, 1, 2, 2])"));
        let flags = "unique(x, R.prim_value(True), R.prim_value(False), R.prim_value(False), R.prim_value(False))";
        assert!(read("unique(x)", flags));
        assert!(!read("unique(x, sorted=False)", flags));
        assert!(!read("tile(x, 2)", "tile(x, [2, 2])"));
    }

    #[test]
    fn a_cast_without_a_name_may_get_one() {
        let program = |name: &str| {
            let cast = "R.match_cast(x, R.Tensor((2,), \"float32\"))";
            parse_module(&format!("@R.function\ndef main(x: R.Object):\n    {name} = {cast}\n    return x\n")).unwrap()
        };
        assert!(same_as_read(&program("_"), &program("y")));
        assert!(!same_program(&program("_"), &program("y")));
    }

    #[test]
    fn variables_may_be_called_otherwise_but_not_exchanged() {
        let tensor = |x: &str, n: &str| format!("{x}: R.Tensor((\"{n}\",), \"float32\")");
        let params = |a: String, b: String| format!("{a}, {b}");
        let one = params(tensor("x", "n"), tensor("y", "m"));
        assert!(same(&one, &params(tensor("x", "a"), tensor("y", "b"))));
        assert!(!same(&one, &params(tensor("x", "n"), tensor("y", "n"))));
        assert!(!same(&one, &params(tensor("y", "n"), tensor("x", "m"))));
    }
}
