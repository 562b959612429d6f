//! The right-hand sides of bindings, except for operators and control flow.

use std::collections::BTreeMap;

use super::draw::{DEPTH, ProgramGenerator};
use super::prim_funcs::CallForm;
use crate::generate::nodes::{
    F32, boxed, call_with, cast, dims_of, dtype_of, global_var, holds_function, is_closure, packed, pure_packed, text,
    truth, truths,
};
use crate::generate::scope::{DimScope, Scope, ScopeValue};
use relax_spec::grammar::{
    AttrValue, Attrs, BinaryOp, Binding, DataType, Expr, FloatBits, Ndim, PrimExpr, PrimValue, ShapeVar, Span,
    StructInfo, TensorShape, TensorStructInfo,
};
use relax_spec::rule;

/// Creates an opaque object.
const OBJECT: &str = "relax_spec.make_object";
/// A call in destination-passing style.
const DPS: &str = "relax.call_dps_packed";

fn is_float_vector(value: &ScopeValue) -> bool {
    dtype_of(&value.info) == Some(F32) && dims_of(&value.info).is_some() && value.sizes.is_some()
}

fn rank_of(sizes: &[i64]) -> i64 {
    Ndim::of_len(sizes.len()).to_i64()
}

/// A boxed literal that is not a size.
fn scalar(which: usize) -> ScopeValue {
    let (expr, info) = match which {
        0 => boxed(DataType::INT32, PrimExpr::IntImm(3)),
        1 => boxed(DataType::UINT8, PrimExpr::IntImm(2)),
        _ => {
            let float = Some(FloatBits::new(0.5));
            let prim = PrimValue { value: PrimExpr::IntImm(0), dtype: F32, float, span: Span::NONE };
            (Expr::PrimValue(prim), StructInfo::prim(F32))
        }
    };
    ScopeValue::new(expr, info, None)
}

impl ProgramGenerator<'_> {
    /// Draws one binding, and puts its variable into scope.
    pub(super) fn binding(&mut self, scope: &mut Scope) -> Option<Binding> {
        if self.on.casts
            && self.tape.one_in(8)
            && let Some(cast) = self.match_cast(scope)
        {
            return Some(cast);
        }
        if self.on.recursion && self.on.closures && !scope.dataflow && scope.depth > 0 && self.tape.one_in(20) {
            return Some(self.recursive_binding(scope));
        }
        let made = self.value(scope)?;
        Some(self.bound(scope, made))
    }

    fn value(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let special = match self.tape.choose(27) {
            10 | 11 if self.on.tuples => self.tuple(scope),
            12 if self.on.shapes => self.shape(scope),
            13 if self.on.packed || self.on.effects => self.packed(scope),
            14 | 22..=26 if self.on.prim_funcs => self.prim_func(scope),
            15 if self.on.in_place => self.in_place(scope),
            16 if self.on.constants => self.bound_constant(),
            17 if self.on.odd_blocks => self.pick(scope, |value| !holds_function(&value.info)),
            18 | 19 => self.control(scope),
            20 if self.on.nested => self.sequence_as_value(scope),
            21 if self.on.shapes && self.on.arithmetic => self.comparison(scope),
            0..=3 if self.is_further() => self.further_value(scope),
            _ => None,
        };
        special.or_else(|| self.operator(scope))
    }

    fn bound_constant(&mut self) -> Option<ScopeValue> {
        let dtypes = [F32, DataType::BOOL, DataType::INT64, DataType::INT32, DataType::FLOAT64, DataType::UINT8];
        let dtype = if self.on.data_types { dtypes[self.tape.choose(dtypes.len())] } else { F32 };
        // Sometimes there are no elements.
        let less = i64::from(self.tape.one_in(12));
        let sizes: Vec<i64> = (0..self.tape.choose(3)).map(|_| self.some_size() - less).collect();
        self.constant(dtype, &sizes)
    }

    fn tuple(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let is_tuple = |value: &ScopeValue| matches!(&value.info, StructInfo::Tuple(fields) if !fields.is_empty());
        if self.tape.one_in(2)
            && let Some(tuple) = self.pick(scope, is_tuple)
            && let StructInfo::Tuple(fields) = &tuple.info
        {
            let index = self.tape.choose(fields.len());
            let info = fields.get(index)?.clone();
            let sizes = self.sizes_of(&info);
            return Some(ScopeValue::new(Expr::tuple_get_item(tuple.expr, i64::try_from(index).ok()?), info, sizes));
        }
        if self.on.nested && scope.is_impure() && self.tape.one_in(3) {
            return self.before_an_effect(scope);
        }
        let count = self.tape.choose(4);
        let functions = self.on.higher_order && self.tape.one_in(3);
        let fits = |value: &ScopeValue| functions || !holds_function(&value.info);
        let fields: Vec<ScopeValue> = (0..count).filter_map(|_| self.pick(scope, fits)).collect();
        let exprs = fields.iter().map(|value| value.expr.clone()).collect();
        let info = StructInfo::tuple(fields.into_iter().map(|value| value.info));
        Some(ScopeValue::new(Expr::tuple(exprs), info, None))
    }

    fn shape(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        match self.tape.choose(6) {
            3 if self.on.arithmetic => self.comparison(scope),
            4 if self.on.data_types => Some(scalar(self.tape.choose(3))),
            5 if self.on.packed => self.doubled(scope),
            0 | 3 => {
                let vector = self.pick(scope, is_float_vector)?;
                let info = StructInfo::shape(dims_of(&vector.info)?.iter().cloned());
                let value = Expr::call(Expr::op("relax.shape_of"), vec![vector.expr]);
                Some(ScopeValue::new(value, info, vector.sizes))
            }
            1 | 4 => {
                let sizes: Vec<i64> = (0..self.tape.choose(3)).map(|_| self.some_size()).collect();
                let dims = self.dims(scope, &sizes);
                Some(ScopeValue::new(Expr::shape(dims.clone()), StructInfo::shape(dims), Some(sizes)))
            }
            _ => {
                let size = self.tape.choose(6) as i64;
                let (value, info) = boxed(DataType::INT64, self.dim(scope, size));
                Some(ScopeValue::new(value, info, None))
            }
        }
    }

    /// A comparison of sizes, boxed.
    pub(super) fn comparison(&mut self, scope: &Scope) -> Option<ScopeValue> {
        let var = self.tape.pick(&scope.dims().collect::<Vec<_>>()).copied()?.clone();
        let op = [BinaryOp::Gt, BinaryOp::Eq, BinaryOp::Le][self.tape.choose(3)];
        let number = PrimExpr::IntImm(self.tape.choose(4) as i64);
        let (value, info) = boxed(DataType::BOOL, PrimExpr::binary(op, PrimExpr::Var(var), number));
        Some(ScopeValue::new(value, info, None))
    }

    /// A shape that a packed function computes from another one.
    fn doubled(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let shape = self.pick(scope, |value| matches!(value.info, StructInfo::Shape(_)) && value.sizes.is_some())?;
        let sizes: Vec<i64> = shape.sizes?.iter().map(|size| size.saturating_mul(2)).collect();
        let info = StructInfo::shape_ndim(rank_of(&sizes));
        let value = pure_packed("relax_spec.shape_double", vec![shape.expr], info.clone());
        Some(ScopeValue::new(value, info, Some(sizes)))
    }

    /// A shape that may be invalid at other sizes, followed by a side effect: the order of the two is visible.
    fn before_an_effect(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let vector = self.pick(scope, is_float_vector)?;
        let dims = self.dims(scope, vector.sizes.as_ref()?);
        let info = StructInfo::tuple([StructInfo::shape(dims.clone()), vector.info.clone()]);
        let logged = packed("relax_spec.log", vec![vector.expr], vec![vector.info]);
        Some(ScopeValue::new(Expr::tuple(vec![Expr::shape(dims), logged]), info, None))
    }

    /// Forgets the known dimensions of a tensor, and renames some of them, or states them again.
    fn match_cast(&mut self, scope: &mut Scope) -> Option<Binding> {
        let of_shapes = self.on.shapes && self.tape.one_in(4);
        if self.tape.one_in(5) {
            return self.cast_whole(scope);
        }
        let is_wanted = |info: &StructInfo| match of_shapes {
            true => matches!(info, StructInfo::Shape(_)),
            false => dtype_of(info).is_some_and(|dtype| !dtype.is_void()),
        };
        let picked = self.pick(scope, |value| is_wanted(&value.info) && value.sizes.is_some())?;
        let sizes = picked.sizes?;
        let less = self.tape.choose(6);
        let info = match dtype_of(&picked.info) {
            Some(dtype) if less == 5 => StructInfo::tensor_ndim(rank_of(&sizes), dtype),
            Some(dtype) if less >= 3 => self.of_held_shape(scope, &sizes, dtype)?,
            Some(dtype) => StructInfo::tensor(self.cast_dims(scope, &sizes), dtype),
            None => StructInfo::shape(self.cast_dims(scope, &sizes)),
        };
        Some(self.cast_to(scope, ScopeValue::new(picked.expr, info, Some(sizes))))
    }

    fn cast_to(&mut self, scope: &mut Scope, made: ScopeValue) -> Binding {
        let info = made.info.clone();
        let (var, value) = self.bind(scope, made);
        cast(Some(var), value, info)
    }

    /// A tensor of the shape that a variable holds.
    fn of_held_shape(&mut self, scope: &mut Scope, sizes: &[i64], dtype: DataType) -> Option<StructInfo> {
        let held = self.pick(scope, |value| {
            let is_var = matches!(value.expr, Expr::Var(_));
            is_var && matches!(value.info, StructInfo::Shape(_)) && value.sizes.as_deref() == Some(sizes)
        })?;
        let Expr::Var(var) = held.expr else { return None };
        let (shape, ndim) = (Some(TensorShape::Var(var.into())), Ndim::of_len(sizes.len()));
        Some(StructInfo::Tensor(TensorStructInfo { shape, dtype, ndim, vdevice: None }))
    }

    /// Casts a tuple or a function to its own structural information.
    fn cast_whole(&mut self, scope: &mut Scope) -> Option<Binding> {
        let functions = self.on.closures && !scope.dataflow;
        let picked = self.pick(scope, |value| match &value.info {
            StructInfo::Tuple(_) => !holds_function(&value.info),
            info => functions && is_closure(info),
        })?;
        let info = self.outside(&picked.info, &scope.all_dims());
        Some(self.cast_to(scope, ScopeValue::new(picked.expr, info, None)))
    }

    /// New variables for sizes, or dimensions in scope.
    fn cast_dims(&mut self, scope: &mut Scope, sizes: &[i64]) -> Vec<PrimExpr> {
        let mut dims = Vec::new();
        for size in sizes {
            dims.push(if self.tape.choose(3) < 2 {
                let var = self.shape_var(scope, *size);
                scope.push_dim(&var, DimScope::Body);
                PrimExpr::Var(var)
            } else {
                self.dim(scope, *size)
            });
        }
        dims
    }

    /// A variable for a size, possibly one of an inner scope that has ended.
    pub(super) fn shape_var(&mut self, scope: &Scope, size: i64) -> ShapeVar {
        let again = self.on.shadowing && self.tape.one_in(2);
        let is_free = |var: &&ShapeVar| self.world.get(*var) == Some(&size) && !scope.has_dim(var);
        let found = scope.left_dims().chain(&self.in_operands).find(is_free).filter(|_| again).cloned();
        found.unwrap_or_else(|| self.fresh_dim(size))
    }

    /// A call of one of the packed functions of the suite.
    fn packed(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let vector = self.pick(scope, is_float_vector)?;
        let less = StructInfo::tensor_ndim(rank_of(vector.sizes.as_ref()?), F32);
        let said = if self.tape.one_in(3) { less } else { vector.info.clone() };
        if self.on.effects && scope.is_impure() {
            return self.effect(scope, vector, said);
        }
        if !self.on.packed {
            return None;
        }
        let name = ["relax_spec.identity", "relax_spec.alias", "relax_spec.add", OBJECT][self.tape.choose(4)];
        if name == OBJECT {
            return Some(ScopeValue::new(
                pure_packed(OBJECT, Vec::new(), StructInfo::Object),
                StructInfo::Object,
                None,
            ));
        }
        let mut args = vec![self.operand_of(scope, &vector)];
        args.extend((name == "relax_spec.add").then_some(vector.expr));
        Some(ScopeValue::new(pure_packed(name, args, said.clone()), said, vector.sizes))
    }

    /// A call with a side effect on a vector.
    fn effect(&mut self, scope: &mut Scope, vector: ScopeValue, said: StructInfo) -> Option<ScopeValue> {
        let operand = self.operand_of(scope, &vector);
        let own = vector.expr.clone();
        let (name, args, said) = match self.tape.choose(10) {
            0 | 1 => ("relax_spec.log", vec![operand], said),
            2 => ("relax_spec.add_inplace", vec![own.clone(), own], said),
            3 => {
                let other = self.pick(scope, |value| value.info == vector.info)?;
                ("relax_spec.add_inplace", vec![own, other.expr], said)
            }
            4 => {
                let value = Expr::call(Expr::op("relax.print"), vec![text(""), operand]);
                return Some(ScopeValue::new(value, StructInfo::tuple([]), None));
            }
            5 => ("relax_spec.alias", vec![operand], said),
            6 => return self.packed_otherwise(scope, operand, &vector.info),
            7 => return self.asserted(scope),
            // In a branch, which not every run takes.
            8 if self.on.failures && scope.depth < DEPTH && self.tape.one_in(3) => {
                ("relax_spec.fail", vec![operand], StructInfo::Object)
            }
            _ => return self.filled(scope, operand, vector.sizes?),
        };
        Some(ScopeValue::new(packed(name, args, vec![said.clone()]), said, vector.sizes))
    }

    /// A packed call without a type argument, one with several, and one that returns nothing.
    fn packed_otherwise(&mut self, scope: &mut Scope, operand: Expr, info: &StructInfo) -> Option<ScopeValue> {
        let (name, args, said, info) = match self.tape.choose(3) {
            0 => ("relax_spec.log", vec![operand], Vec::new(), StructInfo::Object),
            1 => {
                let other = self.pick(scope, |value| value.info == *info)?;
                let infos = vec![info.clone(), info.clone()];
                (
                    "relax_spec.alias",
                    vec![Expr::tuple(vec![operand, other.expr])],
                    infos.clone(),
                    StructInfo::tuple(infos),
                )
            }
            _ => ("relax_spec.log", Vec::new(), vec![StructInfo::tuple([])], StructInfo::tuple([])),
        };
        Some(ScopeValue::new(packed(name, args, said), info, None))
    }

    /// A condition that holds; sometimes it depends on the input.
    fn asserted(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let is_open = self.on.failures && self.tape.one_in(4);
        let open = if is_open { self.pick(scope, |value| value.info == truths()) } else { None };
        let holds = open.map(|value| value.expr).or_else(|| truth(true))?;
        let value = Expr::call(Expr::op("relax.assert_op"), vec![holds, text("")]);
        Some(ScopeValue::new(value, StructInfo::tuple([]), None))
    }

    /// A packed function that writes its result into a tensor.
    fn filled(&mut self, scope: &mut Scope, operand: Expr, sizes: Vec<i64>) -> Option<ScopeValue> {
        let dims = self.dims(scope, &sizes);
        // Where it counts as pure it must not have side effects, which could then be removed (OP.CALLDPS.IMPURE).
        let counts_as_pure = relax_spec::ops::lookup(DPS).is_some_and(|def| def.is_pure_in(self.source.edition()));
        let name = if counts_as_pure { "relax_spec.fill_dps_pure" } else { "relax_spec.fill_dps" };
        let args = vec![Expr::extern_func(name), operand, Expr::shape(dims.clone())];
        let rank = StructInfo::tensor_ndim(rank_of(&sizes), F32);
        let value = call_with(Expr::op(DPS), args, vec![rank], Attrs::new());
        Some(ScopeValue::new(value, StructInfo::tensor(dims, F32), Some(sizes)))
    }

    /// A call of a `PrimFunc`.
    fn prim_func(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let funcs = self.source.prim_funcs.iter().enumerate();
        let called: Vec<_> = funcs.filter(|(_, template)| template.form == CallForm::CallTir).collect();
        let (at, template) = self.tape.pick(&called).copied()?;
        let mark = scope.mark();
        let mut named: BTreeMap<&str, (i64, PrimExpr)> = BTreeMap::new();
        let mut args = vec![global_var(template.name)];
        for (dtype, names) in &template.inputs {
            let Some(input) = self.input(scope, *dtype, names, &named) else {
                scope.back_to(mark);
                return None;
            };
            let dims = dims_of(&input.info)?.to_vec();
            for ((name, dim), size) in names.iter().zip(dims).zip(input.sizes.clone().unwrap_or_default()) {
                named.entry(name).or_insert((size, dim));
            }
            args.push(self.operand_of(scope, &input));
        }
        let mut infos = Vec::new();
        for (dtype, names) in &template.outputs {
            let mut dims = Vec::new();
            for name in names {
                if !named.contains_key(name) {
                    let size = self.some_size();
                    named.insert(name, (size, self.dim(scope, size)));
                }
                dims.extend(named.get(name).map(|(_, dim)| dim.clone()));
            }
            infos.push((dims, *dtype));
        }
        self.calls_prim_func(at);
        let shapes = infos.iter().map(|(dims, _)| Expr::shape(dims.clone())).collect();
        args.push(one_or(shapes, Expr::tuple));
        let ranked = |(dims, dtype): &(Vec<PrimExpr>, DataType)| {
            StructInfo::tensor_ndim(Ndim::of_len(dims.len()).to_i64(), *dtype)
        };
        let rank = one_or(infos.iter().map(ranked).collect(), StructInfo::tuple);
        let info = infos.into_iter().map(|(dims, dtype)| StructInfo::tensor(dims, dtype));
        let info = one_or(info.collect(), StructInfo::tuple);
        let (mut name, mut attrs) = ("relax.call_tir", Attrs::new());
        if self.on.attributes && self.tape.one_in(12) {
            name = "relax.call_tir_with_grad";
            attrs.insert("te_grad_name".into(), AttrValue::Str("relax_spec_grad".into()));
        }
        let sizes = self.sizes_of(&info);
        Some(ScopeValue::new(call_with(Expr::op(name), args, vec![rank], attrs), info, sizes))
    }

    pub(super) fn calls_prim_func(&mut self, at: usize) {
        if !self.prim_funcs.contains(&at) {
            self.prim_funcs.push(at);
        }
    }

    /// A tensor as an input of a `PrimFunc`, some of whose sizes are fixed already.
    fn input(
        &mut self,
        scope: &mut Scope,
        dtype: DataType,
        names: &[&str],
        named: &BTreeMap<&str, (i64, PrimExpr)>,
    ) -> Option<ScopeValue> {
        let settled: Vec<Option<i64>> = names.iter().map(|name| named.get(name).map(|(size, _)| *size)).collect();
        let have_them = |sizes: &Vec<i64>| {
            let mut both = sizes.iter().zip(&settled);
            sizes.len() == names.len() && both.all(|(size, settled)| settled.is_none_or(|settled| settled == *size))
        };
        let fits = |value: &ScopeValue| {
            let is_known = dtype_of(&value.info) == Some(dtype) && dims_of(&value.info).is_some();
            is_known && value.sizes.as_ref().is_some_and(have_them)
        };
        if let Some(value) = self.pick(scope, fits) {
            return Some(value);
        }
        let sizes: Vec<i64> = settled.iter().map(|settled| settled.unwrap_or_else(|| self.some_size())).collect();
        self.parameter(scope, dtype, &sizes)
    }

    /// A call that writes to its argument. If the edition treats it as pure on a promise (`OP.CALLTIRINPLACE.PURITY`),
    /// neither the argument nor an alias of it is used afterwards.
    fn in_place(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let promises = rule!("OP.CALLTIRINPLACE.PURITY").is_stated_by(self.source.edition());
        let is_writable = |value: &ScopeValue| is_float_vector(value) && (!promises || !value.used && value.fresh);
        let by_packed = scope.is_impure() && self.tape.one_in(2);
        let picked = self.pick(scope, |value| {
            is_writable(value) && (by_packed || value.sizes.as_ref().is_some_and(|sizes| sizes.len() == 1))
        })?;
        if promises {
            scope.spend(&picked.expr);
        }
        let ScopeValue { expr, info, sizes, .. } = picked;
        let attrs = Attrs::from([("inplace_indices".into(), AttrValue::List(vec![AttrValue::Int(0)]))]);
        let value = if by_packed {
            let args = vec![Expr::extern_func("relax_spec.add_inplace"), expr.clone(), expr];
            call_with(Expr::op("relax.call_inplace_packed"), args, vec![info.clone()], attrs)
        } else {
            let at = self.source.prim_funcs.iter().position(|template| template.form == CallForm::InPlace)?;
            self.calls_prim_func(at);
            let shape = Expr::shape(dims_of(&info)?.iter().cloned());
            let args = vec![global_var(self.source.prim_funcs.get(at)?.name), expr, shape];
            call_with(Expr::op("relax.call_tir_inplace"), args, vec![StructInfo::tensor_ndim(1, F32)], attrs)
        };
        Some(ScopeValue::new(value, info, sizes))
    }
}

/// What is said of one output, or of several together.
fn one_or<T>(mut outputs: Vec<T>, together: fn(Vec<T>) -> T) -> T {
    if outputs.len() == 1 { outputs.remove(0) } else { together(outputs) }
}
