//! The right-hand sides of bindings, apart from operators and control.

use super::control::truth;
use super::frame::{
    BindingValue, DEPTH, FunctionDraft, ProgramGenerator, ScopeValue, dims_of, dtype_of, holds_function,
};
use relax_spec::grammar::{
    AttrValue, Attrs, BinaryOp, Binding, Call, DataType, Expr, FloatBits, GlobalVar, MatchCast, Ndim, PrimExpr,
    PrimStructInfo, PrimValue, ShapeVar, Span, StructInfo, TensorData, TensorShape, TensorStructInfo, VarBinding,
};
use relax_spec::rule;

const F32: DataType = DataType::FLOAT32;
/// Makes an object that is nothing else.
const OBJECT: &str = "relax_spec.make_object";
/// Fails.
const FAIL: &str = "relax_spec.fail";
/// A call that passes the destination.
const DPS: &str = "relax.call_dps_packed";

fn is_float_vector(known: &ScopeValue) -> bool {
    dtype_of(&known.info) == Some(F32) && dims_of(&known.info).is_some() && known.sizes.is_some()
}

fn call_with(op: Expr, args: Vec<Expr>, sinfo_args: Vec<StructInfo>, attrs: Attrs) -> Expr {
    Expr::Call(Call { op, args, sinfo_args, attrs, span: Span::NONE }.into())
}

/// A value in a box.
fn boxed(value: PrimExpr, dtype: DataType) -> BindingValue {
    let info = StructInfo::Prim(PrimStructInfo { dtype, value: Some(value.clone()) });
    let prim = PrimValue { value, dtype, float: None, span: Span::NONE };
    BindingValue { value: Expr::PrimValue(prim), info, sizes: None }
}

/// A literal in a box that is no size.
fn scalar(which: usize) -> BindingValue {
    match which {
        0 => boxed(PrimExpr::IntImm(3), DataType::INT32),
        1 => boxed(PrimExpr::IntImm(2), DataType::UINT8),
        _ => {
            let float = Some(FloatBits::new(0.5));
            let prim = PrimValue { value: PrimExpr::IntImm(0), dtype: F32, float, span: Span::NONE };
            BindingValue { value: Expr::PrimValue(prim), info: StructInfo::prim(F32), sizes: None }
        }
    }
}

impl ProgramGenerator<'_> {
    /// One binding, and what it binds is in scope.
    pub(super) fn binding(&mut self, frame: &mut FunctionDraft) -> Option<Binding> {
        if self.on.casts
            && self.tape.one_in(8)
            && let Some(cast) = self.match_cast(frame)
        {
            return Some(cast);
        }
        if self.on.recursion && self.on.closures && !frame.dataflow && frame.depth > 0 && self.tape.one_in(20) {
            return Some(self.recursive_binding(frame));
        }
        let made = self.made(frame)?;
        Some(self.bind(frame, made))
    }

    fn made(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let special = match self.tape.choose(22) {
            10 | 11 if self.on.tuples => self.tuple(frame),
            12 if self.on.shapes => self.shape(frame),
            13 if self.on.packed || self.on.effects => self.packed(frame),
            14 if self.on.prim_funcs => self.prim_func(frame),
            15 if self.on.in_place => self.in_place(frame),
            16 if self.on.constants => self.bound_constant(),
            17 if self.on.odd_blocks => self.alias(frame),
            18 | 19 => self.control(frame),
            20 if self.on.nested => self.sequence_as_value(frame),
            21 if self.on.shapes && self.on.arithmetic => self.comparison(frame),
            _ => None,
        };
        special.or_else(|| self.operator(frame))
    }

    /// Another name for something.
    fn alias(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let known = self.pick(frame, |known| !holds_function(&known.info))?;
        Some(BindingValue { value: known.expr, info: known.info, sizes: known.sizes })
    }

    fn bound_constant(&mut self) -> Option<BindingValue> {
        let dtypes = [F32, DataType::BOOL, DataType::INT64, DataType::INT32, DataType::FLOAT64, DataType::UINT8];
        let dtype = if self.on.data_types { dtypes[self.tape.choose(dtypes.len())] } else { F32 };
        // Now and then there are no elements.
        let least = i64::from(!self.tape.one_in(12));
        let sizes: Vec<i64> = (0..self.tape.choose(3)).map(|_| least + self.tape.choose(4) as i64).collect();
        let known = self.constant(dtype, &sizes)?;
        Some(BindingValue { value: known.expr, info: known.info, sizes: known.sizes })
    }

    fn tuple(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let is_tuple = |known: &ScopeValue| matches!(&known.info, StructInfo::Tuple(fields) if !fields.is_empty());
        if self.tape.one_in(2)
            && let Some(known) = self.pick(frame, is_tuple)
            && let StructInfo::Tuple(fields) = &known.info
        {
            let index = self.tape.choose(fields.len());
            let info = fields.get(index)?.clone();
            let sizes = self.sizes_of(&info);
            return Some(BindingValue {
                value: Expr::tuple_get_item(known.expr, i64::try_from(index).ok()?),
                info,
                sizes,
            });
        }
        if self.on.nested && frame.is_impure() && self.tape.one_in(3) {
            return self.before_an_effect(frame);
        }
        let count = self.tape.choose(4);
        let functions = self.on.higher_order && self.tape.one_in(3);
        let fits = |known: &ScopeValue| functions || !holds_function(&known.info);
        let fields: Vec<ScopeValue> = (0..count).filter_map(|_| self.pick(frame, fits)).collect();
        let exprs = fields.iter().map(|known| known.expr.clone()).collect();
        let info = StructInfo::tuple(fields.into_iter().map(|known| known.info));
        Some(BindingValue { value: Expr::tuple(exprs), info, sizes: None })
    }

    fn shape(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        match self.tape.choose(6) {
            3 if self.on.arithmetic => self.comparison(frame),
            4 if self.on.data_types => Some(scalar(self.tape.choose(3))),
            5 if self.on.packed => self.doubled(frame),
            0 | 3 => {
                let known = self.pick(frame, is_float_vector)?;
                let info = StructInfo::shape(dims_of(&known.info)?.iter().cloned());
                let value = Expr::call(Expr::op("relax.shape_of"), vec![known.expr]);
                Some(BindingValue { value, info, sizes: known.sizes })
            }
            1 | 4 => {
                let sizes: Vec<i64> = (0..self.tape.choose(3)).map(|_| 1 + self.tape.choose(4) as i64).collect();
                let dims: Vec<PrimExpr> = sizes.iter().map(|size| self.dim(frame, *size)).collect();
                Some(BindingValue {
                    value: Expr::shape(dims.clone()),
                    info: StructInfo::shape(dims),
                    sizes: Some(sizes),
                })
            }
            _ => {
                let value = self.tape.choose(6) as i64;
                let value = self.dim(frame, value);
                let info = StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value: Some(value.clone()) });
                let prim = PrimValue { value, dtype: DataType::INT64, float: None, span: Span::NONE };
                Some(BindingValue { value: Expr::PrimValue(prim), info, sizes: None })
            }
        }
    }

    /// A comparison of a size, in a box.
    fn comparison(&mut self, frame: &FunctionDraft) -> Option<BindingValue> {
        let var = self.tape.pick(&frame.dims).cloned()?;
        let op = [BinaryOp::Gt, BinaryOp::Eq, BinaryOp::Le][self.tape.choose(3)];
        let number = PrimExpr::IntImm(self.tape.choose(4) as i64);
        Some(boxed(PrimExpr::binary(op, PrimExpr::Var(var), number), DataType::BOOL))
    }

    /// A shape that a packed function makes of another one.
    fn doubled(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let known = self.pick(frame, |known| matches!(known.info, StructInfo::Shape(_)) && known.sizes.is_some())?;
        let sizes: Vec<i64> = known.sizes?.iter().map(|size| size.saturating_mul(2)).collect();
        let info = StructInfo::shape_ndim(i64::try_from(sizes.len()).ok()?);
        let args = vec![Expr::extern_func("relax_spec.shape_double"), known.expr];
        let value = call_with(Expr::op("relax.call_pure_packed"), args, vec![info.clone()], Attrs::new());
        Some(BindingValue { value, info, sizes: Some(sizes) })
    }

    /// A shape that may be none at other sizes, and behind it something that has an effect: which of them comes first shows.
    fn before_an_effect(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let known = self.pick(frame, is_float_vector)?;
        let dims: Vec<PrimExpr> = known.sizes.as_ref()?.iter().map(|size| self.dim(frame, *size)).collect();
        let shape = StructInfo::shape(dims.clone());
        let logged =
            call_with(Expr::extern_func("relax_spec.log"), vec![known.expr], vec![known.info.clone()], Attrs::new());
        let info = StructInfo::tuple([shape, known.info]);
        Some(BindingValue { value: Expr::tuple(vec![Expr::shape(dims), logged]), info, sizes: None })
    }

    /// Forgets what is known of a tensor's dimensions, and gives some of them other names, or says what they are.
    fn match_cast(&mut self, frame: &mut FunctionDraft) -> Option<Binding> {
        let of_shapes = self.on.shapes && self.tape.one_in(4);
        let is_wanted = |known: &ScopeValue| match &known.info {
            StructInfo::Shape(_) => of_shapes,
            StructInfo::Tensor(_) => !of_shapes,
            StructInfo::Object | StructInfo::Prim(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => false,
        };
        if self.tape.one_in(5) {
            return self.cast_whole(frame);
        }
        let known = self.pick(frame, |known| is_wanted(known) && known.sizes.is_some())?;
        let (sizes, dtype) = (known.sizes.clone()?, dtype_of(&known.info).filter(|dtype| !dtype.is_void()));
        let rank = i64::try_from(sizes.len()).ok()?;
        let less = self.tape.choose(6);
        let info = match dtype {
            Some(dtype) if less == 5 => StructInfo::tensor_ndim(rank, dtype),
            Some(dtype) if less >= 3 => self.of_held_shape(frame, &sizes, dtype)?,
            Some(dtype) => StructInfo::tensor(self.cast_dims(frame, &sizes), dtype),
            None if known.info.as_tensor().is_some() => return None,
            None => StructInfo::shape(self.cast_dims(frame, &sizes)),
        };
        Some(self.cast_to(frame, info, known.expr, Some(sizes)))
    }

    fn cast_to(
        &mut self,
        frame: &mut FunctionDraft,
        info: StructInfo,
        value: Expr,
        sizes: Option<Vec<i64>>,
    ) -> Binding {
        match self.bind(frame, BindingValue { value, info: info.clone(), sizes }) {
            Binding::VarBinding(VarBinding { var, value, span }) => {
                Binding::MatchCast(MatchCast { var: Some(var), struct_info: info, value, span })
            }
            cast @ Binding::MatchCast(_) => cast,
        }
    }

    /// A tensor of the shape that a variable holds.
    fn of_held_shape(&mut self, frame: &mut FunctionDraft, sizes: &[i64], dtype: DataType) -> Option<StructInfo> {
        let held = self.pick(frame, |known| {
            let is_var = matches!(known.expr, Expr::Var(_));
            is_var && matches!(known.info, StructInfo::Shape(_)) && known.sizes.as_deref() == Some(sizes)
        })?;
        let Expr::Var(var) = held.expr else { return None };
        let (shape, ndim) = (Some(TensorShape::Var(var.into())), Ndim::of_len(sizes.len()));
        Some(StructInfo::Tensor(TensorStructInfo { shape, dtype, ndim, vdevice: None }))
    }

    /// A tuple or a function is what is known of it.
    fn cast_whole(&mut self, frame: &mut FunctionDraft) -> Option<Binding> {
        let (functions, scope) = (self.on.closures && !frame.dataflow, frame.dims.clone());
        let known = self.pick(frame, |known| match &known.info {
            StructInfo::Tuple(_) => !holds_function(&known.info),
            StructInfo::Func(func) => functions && func.params.is_some(),
            StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
        })?;
        let info = self.outside(&known.info, &scope);
        Some(self.cast_to(frame, info, known.expr, None))
    }

    /// New variables for sizes, or what is in scope.
    fn cast_dims(&mut self, frame: &mut FunctionDraft, sizes: &[i64]) -> Vec<PrimExpr> {
        let mut dims = Vec::new();
        for size in sizes {
            if self.tape.choose(3) < 2 {
                let var = self.shape_var(frame, *size);
                frame.dims.push(var.clone());
                dims.push(PrimExpr::Var(var));
            } else {
                dims.push(self.dim(frame, *size));
            }
        }
        dims
    }

    /// A variable for a size, which may be that of a scope that was left.
    pub(super) fn shape_var(&mut self, frame: &FunctionDraft, size: i64) -> ShapeVar {
        let again = self.on.shadowing && self.tape.one_in(2);
        let is_free = |var: &&ShapeVar| self.world.get(*var) == Some(&size) && !frame.dims.contains(var);
        match frame.gone.iter().chain(&self.spent).find(is_free).filter(|_| again) {
            Some(var) => var.clone(),
            None => self.fresh_dim(size),
        }
    }

    /// A call of one of the packed functions of the suite.
    fn packed(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let known = self.pick(frame, is_float_vector)?;
        let (info, sizes) = (known.info.clone(), known.sizes.clone());
        let less = StructInfo::tensor_ndim(i64::try_from(sizes.as_ref()?.len()).ok()?, F32);
        let said = if self.tape.one_in(3) { less } else { info.clone() };
        if self.on.effects && frame.is_impure() {
            return self.effect(frame, known, said);
        }
        if !self.on.packed {
            return None;
        }
        let name = ["relax_spec.identity", "relax_spec.alias", "relax_spec.add", OBJECT][self.tape.choose(4)];
        if name == OBJECT {
            let (args, said) = (vec![Expr::extern_func(OBJECT)], vec![StructInfo::Object]);
            let value = call_with(Expr::op("relax.call_pure_packed"), args, said, Attrs::new());
            return Some(BindingValue { value, info: StructInfo::Object, sizes: None });
        }
        let operand = self.operand_of(frame, &known);
        let args = if name == "relax_spec.add" { vec![operand, known.expr] } else { vec![operand] };
        let args = [vec![Expr::extern_func(name)], args].concat();
        let value = call_with(Expr::op("relax.call_pure_packed"), args, vec![said.clone()], Attrs::new());
        Some(BindingValue { value, info: said, sizes })
    }

    /// A call that has an effect, on a vector.
    fn effect(&mut self, frame: &mut FunctionDraft, known: ScopeValue, said: StructInfo) -> Option<BindingValue> {
        let (info, sizes) = (known.info.clone(), known.sizes.clone());
        let operand = self.operand_of(frame, &known);
        let (name, args, said) = match self.tape.choose(10) {
            0 | 1 => ("relax_spec.log", vec![operand], said),
            2 => ("relax_spec.add_inplace", vec![known.expr.clone(), known.expr], said),
            3 => {
                let other = self.pick(frame, |known| known.info == info)?;
                if matches!(known.expr, Expr::Constant(_)) {
                    return None;
                }
                ("relax_spec.add_inplace", vec![known.expr, other.expr], said)
            }
            4 => {
                let value = Expr::call(
                    Expr::op("relax.print"),
                    vec![
                        Expr::StringImm(relax_spec::grammar::StringImm { value: "".into(), span: Span::NONE }),
                        operand,
                    ],
                );
                return Some(BindingValue { value, info: StructInfo::tuple([]), sizes: None });
            }
            5 => ("relax_spec.alias", vec![operand], said),
            6 => return self.packed_otherwise(frame, operand, &info),
            7 => return self.asserted(frame),
            // In a branch, which not every run takes.
            8 if frame.depth < DEPTH && self.tape.one_in(3) => (FAIL, vec![operand], StructInfo::Object),
            _ => return self.filled(frame, operand, sizes?),
        };
        let value = call_with(Expr::extern_func(name), args, vec![said.clone()], Attrs::new());
        Some(BindingValue { value, info: said, sizes })
    }

    /// A packed call that says nothing of its result, one that says several things, and one that gives nothing.
    fn packed_otherwise(
        &mut self,
        frame: &mut FunctionDraft,
        operand: Expr,
        info: &StructInfo,
    ) -> Option<BindingValue> {
        let (name, args, said, info) = match self.tape.choose(3) {
            0 => ("relax_spec.log", vec![operand], Vec::new(), StructInfo::Object),
            1 => {
                let other = self.pick(frame, |known| known.info == *info)?;
                let infos = vec![info.clone(), info.clone()];
                let pair = Expr::tuple(vec![operand, other.expr]);
                ("relax_spec.alias", vec![pair], infos.clone(), StructInfo::tuple(infos))
            }
            _ => ("relax_spec.log", Vec::new(), vec![StructInfo::tuple([])], StructInfo::tuple([])),
        };
        let value = call_with(Expr::extern_func(name), args, said, Attrs::new());
        Some(BindingValue { value, info, sizes: None })
    }

    /// A condition that holds.
    fn asserted(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        // Now and then it depends on the input.
        let open = if self.tape.one_in(4) { self.pick(frame, |known| known.info == truth()) } else { None };
        let holds = match open {
            Some(known) => known.expr,
            None => Expr::constant(TensorData::from_values(DataType::BOOL, &[], &[1.0]).ok()?),
        };
        let text = Expr::StringImm(relax_spec::grammar::StringImm { value: "".into(), span: Span::NONE });
        let value = Expr::call(Expr::op("relax.assert_op"), vec![holds, text]);
        Some(BindingValue { value, info: StructInfo::tuple([]), sizes: None })
    }

    /// A packed function that writes its result into a tensor.
    fn filled(&mut self, frame: &mut FunctionDraft, operand: Expr, sizes: Vec<i64>) -> Option<BindingValue> {
        let dims: Vec<PrimExpr> = sizes.iter().map(|size| self.dim(frame, *size)).collect();
        let rank = StructInfo::tensor_ndim(i64::try_from(dims.len()).ok()?, F32);
        // Where it counts as pure it is not to have effects, which could be lost then (OP.CALLDPS.IMPURE).
        let counts_as_pure = relax_spec::ops::lookup(DPS).is_some_and(|def| def.is_pure_in(self.source.edition()));
        let name = if counts_as_pure { "relax_spec.fill_dps_pure" } else { "relax_spec.fill_dps" };
        let args = vec![Expr::extern_func(name), operand, Expr::shape(dims.clone())];
        let value = call_with(Expr::op(DPS), args, vec![rank], Attrs::new());
        Some(BindingValue { value, info: StructInfo::tensor(dims, F32), sizes: Some(sizes) })
    }

    /// A call of a `PrimFunc`.
    fn prim_func(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let at = self.tape.choose(self.source.prim_funcs.len());
        let template = self.source.prim_funcs.get(at)?;
        if template.in_place {
            return None;
        }
        let mark = frame.mark();
        let mut named: Vec<(&str, i64, PrimExpr)> = Vec::new();
        let mut args = vec![Expr::GlobalVar(GlobalVar::new(template.name))];
        for (dtype, names) in template.inputs {
            let known = self.fitting(frame, *dtype, names, &named);
            let Some(known) = known else {
                frame.back_to(mark);
                return None;
            };
            let dims = dims_of(&known.info)?.to_vec();
            for ((name, dim), size) in names.iter().zip(dims).zip(known.sizes.clone().unwrap_or_default()) {
                if !named.iter().any(|(own, ..)| own == name) {
                    named.push((name, size, dim));
                }
            }
            args.push(self.operand_of(frame, &known));
        }
        let mut infos = Vec::new();
        for (dtype, names) in template.outputs {
            let mut dims = Vec::new();
            for name in *names {
                if !named.iter().any(|(own, ..)| own == name) {
                    let size = 1 + self.tape.choose(4) as i64;
                    let dim = self.dim(frame, size);
                    named.push((name, size, dim));
                }
                dims.extend(named.iter().find(|(own, ..)| own == name).map(|(.., dim)| dim.clone()));
            }
            infos.push((dims, *dtype));
        }
        if !self.prim_funcs.contains(&at) {
            self.prim_funcs.push(at);
        }
        let Outputs { shape, rank, info } = Outputs::of(&infos);
        args.push(shape);
        let sizes = self.sizes_of(&info);
        let (mut name, mut attrs) = ("relax.call_tir", Attrs::new());
        if self.on.attributes && self.tape.one_in(12) {
            name = "relax.call_tir_with_grad";
            attrs.insert("te_grad_name".into(), AttrValue::Str("relax_spec_grad".into()));
        }
        Some(BindingValue { value: call_with(Expr::op(name), args, vec![rank], attrs), info, sizes })
    }

    /// A tensor for an input of a `PrimFunc`, of which some sizes are settled.
    fn fitting(
        &mut self,
        frame: &mut FunctionDraft,
        dtype: DataType,
        names: &[&str],
        named: &[(&str, i64, PrimExpr)],
    ) -> Option<ScopeValue> {
        let settled: Vec<Option<i64>> =
            names.iter().map(|name| named.iter().find(|(own, ..)| own == name).map(|(_, size, _)| *size)).collect();
        let fits = |known: &ScopeValue| {
            dtype_of(&known.info) == Some(dtype)
                && dims_of(&known.info).is_some()
                && known.sizes.as_ref().is_some_and(|sizes| {
                    sizes.len() == names.len()
                        && sizes.iter().zip(&settled).all(|(size, settled)| settled.is_none_or(|s| s == *size))
                })
        };
        if let Some(known) = self.pick(frame, fits) {
            return Some(known);
        }
        let mut sizes = Vec::new();
        for settled in &settled {
            sizes.push(settled.unwrap_or_else(|| 1 + self.tape.choose(4) as i64));
        }
        self.parameter(frame, dtype, &sizes)
    }

    /// A call that writes its argument. Where the edition lets it count as pure on a promise (`OP.CALLTIRINPLACE.PURITY`), neither the
    /// argument nor an alias of it is used afterwards.
    fn in_place(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let promises = rule!("OP.CALLTIRINPLACE.PURITY").is_stated_by(self.source.edition());
        let fresh = frame.fresh.clone();
        let is_alone = |known: &ScopeValue| !known.used && fresh.contains(&known.expr);
        let is_writable = |known: &ScopeValue| {
            let constant = matches!(known.expr, Expr::Constant(_));
            is_float_vector(known) && if promises { constant || is_alone(known) } else { !constant }
        };
        let packed = frame.is_impure() && self.tape.one_in(2);
        let known = self.pick(frame, |known| {
            is_writable(known) && (packed || known.sizes.as_ref().is_some_and(|sizes| sizes.len() == 1))
        })?;
        if promises {
            frame.spent.push(known.expr.clone());
        }
        let (info, sizes) = (known.info.clone(), known.sizes.clone());
        let attrs = Attrs::from([("inplace_indices".into(), AttrValue::List(vec![AttrValue::Int(0)]))]);
        if packed {
            let args = vec![Expr::extern_func("relax_spec.add_inplace"), known.expr.clone(), known.expr];
            let value = call_with(Expr::op("relax.call_inplace_packed"), args, vec![info.clone()], attrs);
            return Some(BindingValue { value, info, sizes });
        }
        let at = self.source.prim_funcs.iter().position(|template| template.in_place)?;
        let template = self.source.prim_funcs.get(at)?;
        if !self.prim_funcs.contains(&at) {
            self.prim_funcs.push(at);
        }
        let shape = Expr::shape(dims_of(&info)?.iter().cloned());
        let args = vec![Expr::GlobalVar(GlobalVar::new(template.name)), known.expr, shape];
        let value = call_with(Expr::op("relax.call_tir_inplace"), args, vec![StructInfo::tensor_ndim(1, F32)], attrs);
        Some(BindingValue { value, info, sizes })
    }
}

/// What a call of a `PrimFunc` says of its outputs: of several, tuples.
struct Outputs {
    shape: Expr,
    rank: StructInfo,
    info: StructInfo,
}

impl Outputs {
    fn of(infos: &[(Vec<PrimExpr>, DataType)]) -> Outputs {
        let rank = |dims: &[PrimExpr]| i64::try_from(dims.len()).unwrap_or(-1);
        let of_one = |(dims, dtype): &(Vec<PrimExpr>, DataType)| Outputs {
            shape: Expr::shape(dims.clone()),
            rank: StructInfo::tensor_ndim(rank(dims), *dtype),
            info: StructInfo::tensor(dims.clone(), *dtype),
        };
        if let [one] = infos {
            return of_one(one);
        }
        let all: Vec<Outputs> = infos.iter().map(of_one).collect();
        Outputs {
            info: StructInfo::tuple(all.iter().map(|output| output.info.clone())),
            rank: StructInfo::tuple(all.iter().map(|output| output.rank.clone())),
            shape: Expr::tuple(all.into_iter().map(|output| output.shape).collect::<Vec<Expr>>()),
        }
    }
}
