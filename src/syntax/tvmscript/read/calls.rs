//! Calls, each in its canonical form: flat inputs, output shapes as an argument (C14), and type arguments as structural
//! information (C01).

use ruff_python_ast as py;

use super::ModuleReader;
use super::annotation::{ArgumentCursor, DISTRIBUTED};
use super::dims::Unbound;
use super::expr::tuple_of;
use super::fault::{
    Prefix, ReadFault, ReadResult, dotted, integer, is_word, members, qualified, relax_name, span_of, string,
};
use super::signature::{LeftOut, PythonParam, left_out, other_name, signature};
use super::var_len::VAR_LEN;
use crate::grammar::{
    AttrValue, Attrs, Call, DataType, DataTypeImm, Expr, ExternFunc, Name, Ndim, Op, PrimExpr, PrimValue, ShapeExpr,
    Span, StringImm, StructInfo, TensorShape, TensorStructInfo,
};

/// The keywords for type arguments in the dialects.
const SINFO_ARGS: [&str; 3] = ["sinfo_args", "ty_args", "type_args"];
const OUT_SINFO: [&str; 2] = ["out_sinfo", "out_ty"];
const SHAPES: [&str; 2] = ["shape", "output_shape"];

/// The types of devices by name, with the numbers of DLPack.
const DEVICES: [(&str, i64); 12] = [
    ("cpu", 1),
    ("llvm", 1),
    ("cuda", 2),
    ("gpu", 2),
    ("opencl", 4),
    ("vulkan", 7),
    ("metal", 8),
    ("vpi", 9),
    ("rocm", 10),
    ("ext_dev", 12),
    ("webgpu", 15),
    ("hexagon", 16),
];

/// The operators of `R.nn.attention(..)` and of `R.nn.attention_bias(..)`, which are the same function.
const WITHOUT_BIAS: &str = "nn.attention";
const WITH_BIAS: &str = "nn.attention_bias";

fn is_attention(name: &str) -> bool {
    matches!(name, WITHOUT_BIAS | WITH_BIAS)
}

impl ModuleReader<'_> {
    pub(super) fn call(&mut self, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        if let Some(callee) = self.global(&call.func) {
            return self.plain_call(callee, call, span);
        }
        match qualified(&call.func) {
            Some((Prefix::Relax, name)) => self.relax_call(&name, call, span),
            Some((Prefix::Tir, _)) => self.prim_value_call(call, span),
            Some((Prefix::Module, name)) if name == "Op" => self.op_by_name(call, span),
            // A function that returns its argument.
            Some((Prefix::Module, name)) if name == "meta_var" => match &*call.arguments.args {
                [value] => self.expr(value),
                _ => Err(ReadFault::expected(self.text, call, "one value")),
            },
            Some((Prefix::Module, _)) => Err(ReadFault::expected(self.text, call, "a Relax expression")),
            None if is_word(&call.func, "float") => self.prim_value_call(call, span),
            None if self.operator_name(&call.func).is_some() => {
                let name = self.operator_name(&call.func).unwrap_or_default();
                self.relax_call(&name, call, span)
            }
            None if self.foreign_op(&call.func).is_some() => {
                let op_name = self.foreign_op(&call.func).unwrap_or_default().into();
                self.plain_call(Expr::Op(Op { op_name, span }), call, span)
            }
            None => {
                let callee = self.expr(&call.func)?;
                self.plain_call(callee, call, span)
            }
        }
    }

    fn prim_value_call(&mut self, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        self.prim_value(&py::Expr::Call(call.clone()), span)
    }

    fn op_by_name(&mut self, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        match &*call.arguments.args {
            [name] => Ok(Expr::Op(Op { op_name: self.string_arg(name)?.into(), span })),
            _ => Err(ReadFault::expected(self.text, call, "the name of an operator")),
        }
    }

    /// `f(x, y)`, with type arguments and attributes as keywords.
    fn plain_call(&mut self, op: Expr, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let mut args = ArgumentCursor::of(call);
        let (inputs, infos) = with_sinfo_args(&mut args)?;
        let inputs = self.exprs(inputs)?;
        self.finish_call(op, inputs, infos, args, span)
    }

    /// Reads the keywords that every call may have.
    fn finish_call(
        &mut self,
        op: Expr,
        args: Vec<Expr>,
        infos: Option<&py::Expr>,
        rest: ArgumentCursor<'_>,
        span: Span,
    ) -> ReadResult<Expr> {
        Ok(Expr::Call(self.finished(op, args, infos, rest, span)?.into()))
    }

    /// A call with its type arguments, which may have been among the other arguments.
    pub(super) fn finished(
        &mut self,
        op: Expr,
        args: Vec<Expr>,
        infos: Option<&py::Expr>,
        mut rest: ArgumentCursor<'_>,
        span: Span,
    ) -> ReadResult<Call> {
        // It names the type of the attributes, and is not itself one.
        rest.keyword(&["attrs_type_key"]);
        let sinfo_args = match infos.or_else(|| rest.keyword(&SINFO_ARGS)) {
            Some(sinfo_args) => self.struct_infos(sinfo_args, Unbound::Leave)?,
            None => Vec::new(),
        };
        if let Some(again) = rest.keyword(&SINFO_ARGS) {
            return Err(given_twice(again));
        }
        let attrs = self.keyword_attrs(rest.keywords())?;
        Ok(Call { op, args, sinfo_args, attrs, span })
    }

    /// The operator for `R.name`.
    pub(super) fn op(&mut self, name: &str, span: Span) -> Expr {
        let op_name = match self.ops.get(name) {
            Some(known) => known.clone(),
            None => {
                let op_name: Name = format!("relax.{name}").into();
                self.ops.insert(name.into(), op_name.clone());
                op_name
            }
        };
        Expr::Op(Op { op_name, span })
    }

    /// `R.name(..)`.
    fn relax_call(&mut self, name: &str, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let mut args = ArgumentCursor::of(call);
        match name {
            "const" => self.constant(args, &py::Expr::Call(call.clone()), span),
            "shape" | "ShapeExpr" => self.shape_expr(args, call, span),
            "prim_value" | "PrimValue" => {
                let value = self.only(&mut args, call, "one scalar")?;
                self.prim_value(value, span)
            }
            "str" | "StringImm" => {
                let text = self.only(&mut args, call, "one string")?;
                Ok(Expr::StringImm(StringImm { value: self.string_arg(text)?.into(), span }))
            }
            "dtype" | "DataTypeImm" => {
                let dtype = self.only(&mut args, call, "one data type")?;
                Ok(Expr::DataTypeImm(DataTypeImm { value: self.dtype(dtype)?, span }))
            }
            "tuple" | "Tuple" => Ok(tuple_of(self.exprs(args.rest())?, span)),
            "TupleGetItem" => match args.rest() {
                [tuple, index] => self.projection(tuple, index, span),
                _ => Err(ReadFault::expected(self.text, call, "a tuple and an index")),
            },
            "ExternFunc" => match args.rest() {
                // The function itself determines its information, not this annotation.
                [symbol] | [symbol, _] => Ok(extern_func(self.string_arg(symbol)?.into(), span)),
                _ => Err(ReadFault::expected(self.text, call, "the name of a function")),
            },
            "Op" => self.op_by_name(call, span),
            "call_packed" => self.call_packed(args, call, span),
            "call_pure_packed" | "call_inplace_packed" | "call_builtin_with_ctx" => {
                self.call_with_extern(name, args, call, span)
            }
            "call_py_func" => self.call_py_func(args, call, span),
            "hint_on_device" => self.hint_on_device(args, call, span),
            "call_tir" | "call_tir_inplace" | "call_tir_with_grad" | "dist.call_tir_local_view" => {
                let callee = self.tir_callee(&mut args, call)?;
                self.call_dps(name, callee, args, call, span)
            }
            "call_dps_packed" => {
                let callee = self.extern_callee(&mut args, call)?;
                self.call_dps(name, callee, args, call, span)
            }
            "emit_with_sinfo" | "emit_with_ty" | "emit_with_type" => self.emit_with_sinfo(args, call, span),
            "Call" => self.call_by_parts(args, call, span),
            "print" | "assert_op" => self.formatted(name, args, span),
            "match_cast" | "match_shape" => {
                Err(ReadFault::new(call, format!("R.{name} is a binding; assign it to a variable or to `_`")))
            }
            name => self.calls_of(name, args, call, span),
        }
    }

    /// A function that writes calls of operators for its arguments, mostly one.
    fn calls_of(
        &mut self,
        name: &str,
        mut args: ArgumentCursor<'_>,
        call: &py::ExprCall,
        span: Span,
    ) -> ReadResult<Expr> {
        match name {
            "linear" => self.linear(args, call, span),
            "nn.relu6" => self.relu6(args, call, span),
            "matmul" if is_of_2022(call) => {
                // The number of rows of the result came from the shapes.
                args.keyword(&["units"]);
                self.op_call(name, args, span)
            }
            "masked_fill" => self.masked_fill(args, call, span),
            "arange" => self.arange(args, call, span),
            VAR_LEN => self.attention_var_len(args, call, span),
            // The result of each is an R.DTensor.
            "dist.call_tir" | "dist.const" => Err(ReadFault::new(call, DISTRIBUTED)),
            name => self.op_call(whole_name(name), args, span),
        }
    }

    /// `R.nn.relu6(x)`, which TVM expands to a clip between 0 and 6.
    fn relu6(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let data = args.take(&["data"]).ok_or_else(|| ReadFault::expected(self.text, call, "a tensor"))?;
        let operands = vec![self.expr(data)?, number(0, span), number(6, span)];
        args.finish()?;
        Ok(self.op_of("clip", operands, Attrs::new(), span))
    }

    fn op_of(&mut self, name: &str, args: Vec<Expr>, attrs: Attrs, span: Span) -> Expr {
        Expr::Call(Call { op: self.op(name, span), args, sinfo_args: Vec::new(), attrs, span }.into())
    }

    /// `R.linear(x, w, bias)`, which TVM expands to other operators.
    fn linear(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let (data, weight) = (args.take(&["data"]), args.take(&["weight"]));
        let (Some(data), Some(weight)) = (data, weight) else {
            return Err(ReadFault::expected(self.text, call, "data and a weight"));
        };
        let data = self.expr(data)?;
        let weight = self.expr(weight)?;
        let transposed = self.op_of("permute_dims", vec![weight], Attrs::new(), span);
        let bias = args.take(&["bias"]).filter(|bias| !bias.is_none_literal_expr());
        let bias = bias.map(|bias| self.expr(bias)).transpose()?;
        let mut attrs = Attrs::new();
        if let Some(dtype) = args.take(&["out_dtype"]).filter(|dtype| !dtype.is_none_literal_expr()) {
            attrs.insert("out_dtype".into(), self.attr("out_dtype", dtype)?);
        }
        args.finish()?;
        let product = self.op_of("matmul", vec![data, transposed], attrs, span);
        Ok(match bias {
            Some(bias) => self.op_of("add", vec![product, bias], Attrs::new(), span),
            None => product,
        })
    }

    /// `R.masked_fill(x, mask, value)`, which is a selection between the two.
    fn masked_fill(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let (x, mask, value) = (args.take(&["x"]), args.take(&["mask"]), args.take(&["value"]));
        let (Some(x), Some(mask), Some(value)) = (x, mask, value) else {
            return Err(ReadFault::expected(self.text, call, "a tensor, a mask and a value"));
        };
        args.finish()?;
        let (x, mask, value) = (self.expr(x)?, self.expr(mask)?, self.expr(value)?);
        let values = self.op_of("full_like", vec![x.clone(), value], Attrs::new(), span);
        Ok(self.op_of("where", vec![mask, values, x], Attrs::new(), span))
    }

    /// `R.arange(start, end, step, dtype)`. A single bound is the end, and without a datatype integers give int64.
    fn arange(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let start = args.take(&["start"]).ok_or_else(|| ReadFault::expected(self.text, call, "a bound"))?;
        let end = args.take(&["end"]).filter(|end| !end.is_none_literal_expr());
        let step = args.take(&["step"]).map(|step| self.expr(step)).transpose()?;
        let dtype = args.take(&["dtype"]).filter(|dtype| !dtype.is_none_literal_expr());
        let first = self.expr(start)?;
        let (start, end) = match end {
            Some(end) => (first, self.expr(end)?),
            None => (number(0, span), first),
        };
        let bounds = vec![start, end, step.unwrap_or_else(|| number(1, span))];
        let mut attrs = Attrs::new();
        let dtype = match dtype {
            Some(dtype) => self.attr("dtype", dtype)?,
            None if bounds.iter().all(is_integer) => AttrValue::DataType(DataType::INT64),
            None => AttrValue::DataType(DataType::FLOAT32),
        };
        attrs.insert("dtype".into(), dtype);
        attrs.extend(self.keyword_attrs(args.keywords())?);
        args.finish()?;
        Ok(self.op_of("arange", bounds, attrs, span))
    }

    /// The only allowed argument.
    fn only<'e>(&self, args: &mut ArgumentCursor<'e>, call: &py::ExprCall, what: &str) -> ReadResult<&'e py::Expr> {
        match args.rest() {
            [one] => Ok(one),
            _ => Err(ReadFault::expected(self.text, call, what)),
        }
    }

    /// `R.call_packed(name, ..)`, which calls the packed function.
    fn call_packed(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        self.by(rule!("R89.SYN.CALLS"), span);
        self.by(rule!("R89.CALLPACKED.AST"), span);
        let callee = self.extern_callee(&mut args, call)?;
        let (inputs, infos) = with_sinfo_args(&mut args)?;
        let inputs = self.exprs(inputs)?;
        self.finish_call(callee, inputs, infos, args, span)
    }

    /// `R.name(callee, ..)` for an operator whose first argument is a packed function.
    fn call_with_extern(
        &mut self,
        name: &str,
        mut args: ArgumentCursor<'_>,
        call: &py::ExprCall,
        span: Span,
    ) -> ReadResult<Expr> {
        let mut inputs = vec![self.extern_callee(&mut args, call)?];
        if name == "call_builtin_with_ctx"
            && let Some(tuple) = args.take(&["args"])
        {
            inputs.push(self.expr(tuple)?);
        }
        let (others, infos) = with_sinfo_args(&mut args)?;
        inputs.extend(self.exprs(others)?);
        let op = self.op(name, span);
        self.finish_call(op, inputs, infos, args, span)
    }

    fn shape_expr(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let Some(values) = args.take(&["value", "values"]) else {
            return Err(ReadFault::expected(self.text, call, "a list of dimensions"));
        };
        if members(values).is_none() {
            return Err(ReadFault::expected(self.text, values, "a list of dimensions"));
        }
        let values = self.dims(values, Unbound::Leave)?.into();
        args.finish()?;
        Ok(Expr::ShapeExpr(ShapeExpr { values, span }))
    }

    /// The name of a packed function, or an expression.
    fn extern_callee(&mut self, args: &mut ArgumentCursor<'_>, call: &py::ExprCall) -> ReadResult<Expr> {
        match args.take(&["func"]) {
            Some(py::Expr::StringLiteral(s)) => Ok(extern_func(s.value.to_str().into(), span_of(s))),
            Some(other) => self.expr(other),
            None => Err(ReadFault::expected(self.text, call, "the name of a packed function")),
        }
    }

    /// `R.call_py_func("f", (x, y), out_sinfo=R.Tensor(..))`. Several outputs form a tuple.
    fn call_py_func(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let mut inputs = Vec::new();
        for (keyword, what) in [("func_name", "the name of a function"), ("args", "a tuple of arguments")] {
            let input = args.take(&[keyword]).ok_or_else(|| ReadFault::expected(self.text, call, what))?;
            inputs.push(self.expr(input)?);
        }
        let outputs = match args.keyword(&OUT_SINFO).or_else(|| args.take(&OUT_SINFO)) {
            Some(outputs) => self.struct_infos(outputs, Unbound::Leave)?,
            None => Vec::new(),
        };
        let op = self.op("call_py_func", span);
        let mut call = self.finished(op, inputs, None, args, span)?;
        match outputs.as_slice() {
            [] => {}
            [_] => call.sinfo_args = outputs,
            several => call.sinfo_args = vec![StructInfo::tuple(several.iter().cloned())],
        }
        Ok(Expr::Call(call.into()))
    }

    /// A global function. The design documents also name it by a string.
    fn tir_callee(&mut self, args: &mut ArgumentCursor<'_>, call: &py::ExprCall) -> ReadResult<Expr> {
        match args.take(&["gvar", "func"]) {
            Some(py::Expr::StringLiteral(s)) => {
                self.by(rule!("R89.EX.SHAPE"), span_of(s));
                Ok(self.global_var(s.value.to_str().into(), span_of(s)))
            }
            Some(other) => self.expr(other),
            None => Err(ReadFault::expected(self.text, call, "a TIR function")),
        }
    }

    /// Calls in destination-passing style: `R.call_tir(f, (x, y), out_sinfo=R.Tensor((n,), "float32"))`, or in the form
    /// of the design documents, `R.call_tir(f, (x, y), (n,), dtype="float32")` (C14).
    fn call_dps(
        &mut self,
        name: &str,
        callee: Expr,
        mut args: ArgumentCursor<'_>,
        call: &py::ExprCall,
        span: Span,
    ) -> ReadResult<Expr> {
        self.by(rule!("R89.SYN.CALLS"), span);
        let mut inputs = vec![callee];
        let mut in_one = false;
        if let Some(tuple) = args.take(&["args"]) {
            self.spelled(tuple);
            inputs.extend(self.flat_inputs(tuple)?);
            // A tuple that is written with one field has one field, of any kind.
            in_one = !is_written_tuple(tuple) && self.hold_all(&inputs);
        }
        let indices = if name == "call_tir_inplace" { args.take_if(is_indices) } else { None };
        let keyword = args.keyword(&OUT_SINFO);
        let shape = if keyword.is_some() { args.keyword(&SHAPES) } else { args.take(&SHAPES) };
        let dtype = args.keyword(&["dtype", "output_dtype"]);
        let dtype = dtype.or_else(|| args.take_if(|e| shape.is_some_and(is_shape_like) && is_dtypes(e)));
        let mut attrs = Attrs::new();
        if let Some(indices) = indices {
            attrs.insert("inplace_indices".into(), self.attr("inplace_indices", indices)?);
        }
        let gradient: &[&str] = if name == "call_tir_with_grad" { &["te_grad_name", "te_grad_kwargs"] } else { &[] };
        for attr in gradient {
            if let Some(value) = args.take(&[attr]) {
                attrs.insert((*attr).into(), self.attr(attr, value)?);
            }
        }
        let (shape, sinfo) = match (keyword, shape, dtype) {
            (Some(out), None, None) if in_one => match self.whole_outputs(out)? {
                Ok(sinfo) => return self.finish_dps(name, inputs, sinfo, (args, attrs), span),
                Err(parts) => parts,
            },
            (Some(out), None, None) => self.outputs(out)?,
            (None, Some(out), None) if !is_shape_like(out) => match in_one {
                true => match self.whole_outputs(out)? {
                    Ok(sinfo) => return self.finish_dps(name, inputs, sinfo, (args, attrs), span),
                    Err(parts) => parts,
                },
                false => self.outputs(out)?,
            },
            (None, Some(shape), dtype) => self.output_of_shape(shape, dtype)?,
            (Some(_), Some(extra), _) | (Some(_), None, Some(extra)) => {
                return Err(ReadFault::new(extra, "the outputs are given twice"));
            }
            (None, None, _) => {
                return Err(ReadFault::expected(self.text, call, "the outputs, as out_sinfo=R.Tensor(..)"));
            }
        };
        inputs.push(shape);
        self.finish_dps(name, inputs, sinfo, (args, attrs), span)
    }

    /// Whether the only input is a variable that holds all inputs in a tuple (C14).
    fn hold_all(&self, inputs: &[Expr]) -> bool {
        match inputs {
            [_, Expr::Var(var) | Expr::DataflowVar(var)] => self.tuples.contains(var),
            _ => false,
        }
    }

    /// The outputs with their shapes, if all of these are sizes; else like [`ModuleReader::outputs`].
    fn whole_outputs(&mut self, e: &py::Expr) -> ReadResult<Result<StructInfo, (Expr, StructInfo)>> {
        let (shape, sinfo) = self.outputs(e)?;
        Ok(whole_output(&shape, &sinfo).ok_or((shape, sinfo)))
    }

    fn finish_dps(
        &mut self,
        name: &str,
        inputs: Vec<Expr>,
        sinfo: StructInfo,
        (mut args, mut attrs): (ArgumentCursor<'_>, Attrs),
        span: Span,
    ) -> ReadResult<Expr> {
        let tir_vars = args.take(&["tir_vars"]).filter(|vars| !vars.is_none_literal_expr());
        let tir_vars = tir_vars.map(|vars| self.tir_vars(vars)).transpose()?;
        for (name, value) in self.keyword_attrs(args.keywords())? {
            if attrs.insert(name.clone(), value).is_some() {
                return Err(ReadFault::at(span, format!("the argument `{name}` is given twice")));
            }
        }
        args.finish()?;
        if let Some(tir_vars) = tir_vars {
            attrs.insert("tir_vars".into(), tir_vars);
        }
        Ok(Expr::Call(Call { op: self.op(name, span), args: inputs, sinfo_args: vec![sinfo], attrs, span }.into()))
    }

    /// Records the form of the inputs: a tuple, a list as in the RFC's first example, or a single one as in its second.
    fn spelled(&mut self, inputs: &py::Expr) {
        let rule = match inputs {
            py::Expr::Tuple(_) => rule!("R89.CALLTIR.TUPLE"),
            py::Expr::List(_) => rule!("R89.EX.INTERFACE"),
            _ => rule!("R89.EX.CROSSLEVEL"),
        };
        self.by(rule, span_of(inputs));
    }

    /// The inputs of a call in destination-passing style: a tuple or list of them, or a single one.
    fn flat_inputs(&mut self, e: &py::Expr) -> ReadResult<Vec<Expr>> {
        match (members(e), e) {
            (Some(members), _) => self.exprs(members),
            (None, py::Expr::Call(call)) if is_written_tuple(e) => self.exprs(&call.arguments.args),
            (None, _) => Ok(vec![self.expr(e)?]),
        }
    }

    /// Outputs given as structural information: the shapes, and the rest of the information without them.
    fn outputs(&mut self, e: &py::Expr) -> ReadResult<(Expr, StructInfo)> {
        let span = span_of(e);
        match members(e) {
            Some([one]) => self.outputs(one),
            Some(members) => {
                let infos =
                    members.iter().map(|m| self.struct_info(m, Unbound::Leave)).collect::<ReadResult<Vec<_>>>()?;
                let parts = infos.iter().map(|info| self.output(e, info)).collect::<ReadResult<Vec<_>>>()?;
                let (shapes, rest): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
                Ok((tuple_of(shapes, span), StructInfo::tuple(rest)))
            }
            None => {
                let info = self.struct_info(e, Unbound::Leave)?;
                self.output(e, &info)
            }
        }
    }

    fn output(&self, e: &py::Expr, info: &StructInfo) -> ReadResult<(Expr, StructInfo)> {
        let expected = "an output with a shape, such as R.Tensor((n,), \"float32\")";
        dps_output(info).ok_or_else(|| ReadFault::expected(self.text, e, expected))
    }

    /// An output as a shape and a data type.
    fn output_of_shape(&mut self, shape: &py::Expr, dtype: Option<&py::Expr>) -> ReadResult<(Expr, StructInfo)> {
        if let Some(shapes) = members(shape).filter(|shapes| !shapes.is_empty() && shapes.iter().all(is_shape_display))
        {
            return self.outputs_of_shapes(shape, shapes, dtype);
        }
        let dtype = match dtype {
            Some(dtype) => {
                self.by(rule!("R89.SYN.DTYPEARG"), span_of(dtype));
                self.dtype(dtype)?
            }
            None => DataType::VOID,
        };
        let shape = self.shape_arg(shape)?;
        let ndim = match &shape {
            Expr::ShapeExpr(shape) => Ndim::of_len(shape.values.len()),
            _ => Ndim::Unknown,
        };
        Ok((shape, StructInfo::Tensor(TensorStructInfo { shape: None, dtype, ndim, vdevice: None })))
    }

    /// Several outputs in the form of 2022: a list of shapes, and a datatype for all or for each.
    fn outputs_of_shapes(
        &mut self,
        whole: &py::Expr,
        shapes: &[py::Expr],
        dtype: Option<&py::Expr>,
    ) -> ReadResult<(Expr, StructInfo)> {
        let dtypes: Vec<Option<&py::Expr>> = match dtype.and_then(members) {
            Some(each) if each.len() == shapes.len() => each.iter().map(Some).collect(),
            Some(_) => return Err(ReadFault::expected(self.text, whole, "as many data types as there are shapes")),
            None => vec![dtype; shapes.len()],
        };
        let outputs = shapes.iter().zip(dtypes).map(|(shape, dtype)| self.output_of_shape(shape, dtype));
        let (shapes, infos): (Vec<_>, Vec<_>) = outputs.collect::<ReadResult<Vec<_>>>()?.into_iter().unzip();
        Ok((tuple_of(shapes, span_of(whole)), StructInfo::tuple(infos)))
    }

    /// A shape as an argument: a tuple of dimensions is a `ShapeExpr`.
    pub(super) fn shape_arg(&mut self, e: &py::Expr) -> ReadResult<Expr> {
        if members(e).is_some() {
            self.by(rule!("R89.SYN.SHAPELIT"), span_of(e));
            let values = self.dims(e, Unbound::Leave)?.into();
            return Ok(Expr::ShapeExpr(ShapeExpr { values, span: span_of(e) }));
        }
        self.expr(e)
    }

    /// `R.emit_with_sinfo("relax.op", (x, y), sinfo_args, attrs={..})`: any call of an operator, by its name.
    fn emit_with_sinfo(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let name = args.take(&["op"]).and_then(string);
        let name = name.ok_or_else(|| ReadFault::expected(self.text, call, "the name of an operator"))?;
        self.parts(Expr::Op(Op { op_name: name.into(), span }), args, call, span)
    }

    /// `R.Call(f, (x, y), sinfo_args, attrs={..})`: any call.
    fn call_by_parts(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let callee = args.take(&["op"]).ok_or_else(|| ReadFault::expected(self.text, call, "what to call"))?;
        let callee = self.expr(callee)?;
        self.parts(callee, args, call, span)
    }

    fn parts(&mut self, op: Expr, mut rest: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let inputs = rest.take(&["args"]).and_then(members);
        let inputs = inputs.ok_or_else(|| ReadFault::expected(self.text, call, "a tuple of arguments"))?;
        let args = self.exprs(inputs)?;
        let sinfo_args = match rest.take(&SINFO_ARGS) {
            Some(sinfo_args) => self.struct_infos(sinfo_args, Unbound::Leave)?,
            None => Vec::new(),
        };
        let attrs = rest.keyword(&["attrs"]).map_or(Ok(Attrs::new()), |attrs| self.attrs(attrs))?;
        rest.finish()?;
        Ok(Expr::Call(Call { op, args, sinfo_args, attrs, span }.into()))
    }

    /// `R.print(x, format="..")` has the format as its first input, `R.assert_op(c, x, format="..")` as its second.
    fn formatted(&mut self, name: &str, mut args: ArgumentCursor<'_>, span: Span) -> ReadResult<Expr> {
        let format = match args.keyword(&["format"]) {
            Some(format) => Some(self.expr(format)?),
            None => None,
        };
        let inputs = match name {
            "assert_op" => {
                let condition = args.take(&["condition"]);
                let mut inputs = self.exprs(condition.map_or(&[], std::slice::from_ref))?;
                match args.take(&["format_args"]) {
                    Some(py::Expr::NoneLiteral(_)) | None => {}
                    Some(values) => inputs.extend(self.flat_inputs(values)?),
                }
                inputs
            }
            _ => self.exprs(args.rest())?,
        };
        let (mut inputs, format) = match (format, args.rest()) {
            (None, [format]) => (inputs, Some(self.expr(format)?)),
            (format, others) => ([inputs, self.exprs(others)?].concat(), format),
        };
        let at = usize::from(name == "assert_op").min(inputs.len());
        let format = format.unwrap_or_else(|| Expr::StringImm(StringImm { value: "".into(), span }));
        inputs.insert(at, format);
        let op = self.op(name, span);
        self.finish_call(op, inputs, None, args, span)
    }

    /// `R.hint_on_device(x, R.device(device_type=1, index=0), "global")`, whose attributes are those of the device.
    fn hint_on_device(&mut self, mut args: ArgumentCursor<'_>, call: &py::ExprCall, span: Span) -> ReadResult<Expr> {
        let x = args.take(&["data", "expr"]).ok_or_else(|| ReadFault::expected(self.text, call, "an expression"))?;
        let inputs = vec![self.expr(x)?];
        let mut attrs = Attrs::new();
        if let Some(py::Expr::Call(device)) = args.take(&["dst_vdevice", "device"]) {
            attrs = self.device(device)?;
        }
        if let Some(scope) = args.take(&["memory_scope"]) {
            attrs.insert("memory_scope".into(), self.attr("memory_scope", scope)?);
        }
        let op = self.op("hint_on_device", span);
        let mut call = self.finished(op, inputs, None, args, span)?;
        call.attrs.extend(attrs);
        Ok(Expr::Call(call.into()))
    }

    /// `R.device(device_type=2, index=0)`, `R.cuda(0)`, `tvm.cpu()`.
    fn device(&mut self, call: &py::ExprCall) -> ReadResult<Attrs> {
        let (mut device, mut attrs) = (ArgumentCursor::of(call), Attrs::new());
        let made = dotted(&call.func).and_then(|words| words.last().copied()).unwrap_or("device");
        let number = |name: &str| DEVICES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
        let kind = match number(made) {
            Some(number) => Some(AttrValue::Int(number)),
            None => match device.take(&["device_type", "dev"]) {
                Some(kind) => match string(kind).and_then(number) {
                    Some(number) => Some(AttrValue::Int(number)),
                    None => Some(self.attr("device_type", kind)?),
                },
                None => None,
            },
        };
        attrs.extend(kind.map(|kind| (Name::from("device_type"), kind)));
        if let Some(index) = device.take(&["index", "dev_id", "device_id"]) {
            attrs.insert("index".into(), self.attr("index", index)?);
        }
        device.finish()?;
        Ok(attrs)
    }

    /// An input of an operator.
    fn input(&mut self, param: PythonParam, given: &py::Expr) -> ReadResult<Expr> {
        match (param, given) {
            (PythonParam::Shape(_), shape) => self.shape_arg(shape),
            (PythonParam::Dtype(_), py::Expr::StringLiteral(s)) => {
                Ok(Expr::DataTypeImm(DataTypeImm { value: self.dtype(given)?, span: span_of(s) }))
            }
            (_, other) => self.expr(other),
        }
    }

    /// `R.op(..)`: the call of an operator.
    fn op_call(&mut self, name: &str, mut args: ArgumentCursor<'_>, span: Span) -> ReadResult<Expr> {
        self.by(rule!("R89.SYN.CALLS"), span);
        let mut inputs = Vec::with_capacity(args.left());
        let mut attrs = Attrs::new();
        // Flags that are left out. They must be written if another input follows.
        let mut unwritten = Vec::new();
        for param in signature(if is_attention(name) { WITH_BIAS } else { name }) {
            match param {
                PythonParam::Input(keyword) | PythonParam::Shape(keyword) | PythonParam::Dtype(keyword) => {
                    match args.take(&[keyword, other_name(name, keyword)]).filter(|given| !given.is_none_literal_expr())
                    {
                        Some(given) => {
                            inputs.append(&mut unwritten);
                            inputs.push(self.input(param, given)?);
                        }
                        None => inputs.extend(otherwise(name, keyword, &inputs, span)),
                    }
                }
                PythonParam::Flag(keyword, otherwise) => match args.take(&[keyword]) {
                    Some(flag) => {
                        inputs.append(&mut unwritten);
                        inputs.push(self.expr(flag)?);
                    }
                    None => unwritten.push(boxed(otherwise, span)),
                },
                PythonParam::Attr(keyword) => match args.take(&[keyword]) {
                    Some(value) => {
                        attrs.insert(keyword.into(), self.attr(keyword, value)?);
                    }
                    None => continue,
                },
            }
        }
        let (others, infos) = with_sinfo_args(&mut args)?;
        inputs.extend(self.exprs(others)?);
        // Both functions call one or the other operator, depending on whether there is a bias.
        let name = match inputs.len() {
            4 if is_attention(name) => WITH_BIAS,
            3 if is_attention(name) => WITHOUT_BIAS,
            _ => name,
        };
        let op = self.op(name, span);
        let mut call = self.finished(op, inputs, infos, args, span)?;
        call.attrs.extend(attrs);
        Ok(Expr::Call(call.into()))
    }
}

/// C14: the shape in the information of an output, and the rest of the information.
pub(in crate::syntax) fn dps_output(info: &StructInfo) -> Option<(Expr, StructInfo)> {
    let span = Span::NONE;
    if let StructInfo::Tuple(fields) = info {
        let parts = fields.iter().map(dps_output).collect::<Option<Vec<_>>>()?;
        let (shapes, rest): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        Some((tuple_of(shapes, span), StructInfo::tuple(rest)))
    } else if let StructInfo::Tensor(TensorStructInfo { shape: Some(shape), dtype, ndim, vdevice }) = info {
        let shape = match shape {
            TensorShape::Dims(values) => Expr::ShapeExpr(ShapeExpr { values: values.clone(), span }),
            TensorShape::Var(v) => Expr::Var(v.as_ref().clone()),
            TensorShape::DataflowVar(v) => Expr::DataflowVar(v.as_ref().clone()),
            TensorShape::Other(e) => (**e).clone(),
        };
        let (dtype, ndim, vdevice) = (*dtype, *ndim, vdevice.clone());
        Some((shape, StructInfo::Tensor(TensorStructInfo { shape: None, dtype, ndim, vdevice })))
    } else {
        None
    }
}

/// The name of the operator behind a Python function that is known without its namespace.
fn whole_name(name: &str) -> &str {
    const IN_SPACES: [(&str, &str); 7] = [
        ("stop_lift_params", "builtin.stop_lift_params"),
        ("all_class_non_max_suppression", "vision.all_class_non_max_suppression"),
        ("get_valid_counts", "vision.get_valid_counts"),
        ("multibox_transform_loc", "vision.multibox_transform_loc"),
        ("non_max_suppression", "vision.non_max_suppression"),
        ("roi_align", "vision.roi_align"),
        ("roi_pool", "vision.roi_pool"),
    ];
    IN_SPACES.iter().find(|(short, _)| *short == name).map_or(name, |(_, whole)| whole)
}

/// Whether a call is in the notation of 2022, which had operators without a prefix.
fn is_of_2022(call: &py::ExprCall) -> bool {
    relax_name(&call.func).is_none()
}

/// The value that TVM's Python function inserts for an omitted input; `before` are the inputs before it.
fn otherwise(op: &str, input: &str, before: &[Expr], span: Span) -> Option<Expr> {
    Some(match left_out(op, input)? {
        LeftOut::First => before.first()?.clone(),
        LeftOut::Zero => number(0, span),
        LeftOut::Text(text) => Expr::StringImm(StringImm { value: text.into(), span }),
        LeftOut::EmptyTuple => tuple_of(Vec::new(), span),
    })
}

fn number(value: i64, span: Span) -> Expr {
    let value = PrimExpr::IntImm(value);
    Expr::PrimValue(PrimValue { value, dtype: DataType::INT64, float: None, span })
}

/// Whether a bound is an integer as far as the text shows.
fn is_integer(e: &Expr) -> bool {
    match e {
        Expr::PrimValue(value) => value.dtype.is_int(),
        _ => false,
    }
}

/// C14: outputs with their shapes in the information, if all of these are written out.
pub(in crate::syntax) fn whole_output(shape: &Expr, info: &StructInfo) -> Option<StructInfo> {
    match (shape, info) {
        (Expr::Tuple(shapes), StructInfo::Tuple(fields)) => {
            let fields = shapes.fields.iter().zip(fields.iter()).map(|(shape, info)| with_dims(shape, info));
            fields.collect::<Option<Vec<_>>>().map(StructInfo::tuple)
        }
        (shape, info) => with_dims(shape, info),
    }
}

fn boxed(flag: bool, span: Span) -> Expr {
    let value = PrimExpr::IntImm(i64::from(flag));
    Expr::PrimValue(PrimValue { value, dtype: DataType::BOOL, float: None, span })
}

fn extern_func(global_symbol: Name, span: Span) -> Expr {
    Expr::ExternFunc(ExternFunc { global_symbol, span })
}

/// Whether a tuple is written out, as opposed to a variable.
fn is_written_tuple(e: &py::Expr) -> bool {
    let is_tuple = |call: &py::ExprCall| matches!(relax_name(&call.func).as_deref(), Some("tuple" | "Tuple"));
    members(e).is_some() || e.as_call_expr().is_some_and(is_tuple)
}

/// Whether an argument lists the inputs that are outputs.
fn is_indices(e: &py::Expr) -> bool {
    integer(e).is_some() || members(e).is_some_and(|all| !all.is_empty() && all.iter().all(|e| integer(e).is_some()))
}

/// Whether an argument is one or more datatypes.
fn is_dtypes(e: &py::Expr) -> bool {
    string(e).is_some() || members(e).is_some_and(|all| !all.is_empty() && all.iter().all(|e| string(e).is_some()))
}

/// Whether a shape is written as a tuple of dimensions.
fn is_shape_display(e: &py::Expr) -> bool {
    members(e).is_some_and(|dims| !dims.iter().any(|dim| is_struct_info(dim) || members(dim).is_some()))
}

/// Whether a positional argument is a shape rather than structural information.
fn is_shape_like(e: &py::Expr) -> bool {
    match (members(e), e) {
        (Some(members), _) => members.iter().all(|member| !is_struct_info(member)),
        (None, py::Expr::Call(call)) => relax_name(&call.func).as_deref() == Some("shape") || !is_struct_info(e),
        (None, _) => !is_struct_info(e),
    }
}

/// The inputs of a call, and its type arguments. The latter are given by keyword, or else may follow the inputs.
fn with_sinfo_args<'a>(args: &mut ArgumentCursor<'a>) -> ReadResult<(&'a [py::Expr], Option<&'a py::Expr>)> {
    let (all, by_name) = (args.rest(), args.keyword(&SINFO_ARGS));
    Ok(match (by_name, all.split_last()) {
        (Some(_), Some((last, _))) if is_struct_infos(last) && is_no_value(last) => return Err(given_twice(last)),
        (Some(infos), _) => (all, Some(infos)),
        (None, Some((last, inputs))) if is_struct_infos(last) => (inputs, Some(last)),
        (None, _) => (all, None),
    })
}

fn given_twice(again: &py::Expr) -> ReadFault {
    ReadFault::new(again, "type arguments are given twice").under(rule!("PR14148.CALL.SINFO_ARGS"))
}

/// Whether this can only be structural information. An empty tuple, or a tuple of such tuples, may also be a value.
fn is_no_value(e: &py::Expr) -> bool {
    match (members(e), e) {
        (Some(members), _) => members.iter().any(is_no_value),
        (None, py::Expr::Call(call)) if relax_name(&call.func).as_deref() == Some("Tuple") => {
            call.arguments.args.iter().any(is_no_value)
        }
        (None, _) => is_struct_info(e),
    }
}

fn is_struct_infos(e: &py::Expr) -> bool {
    match members(e) {
        Some(members) => !members.is_empty() && members.iter().all(is_struct_info),
        None => is_struct_info(e),
    }
}

pub(super) fn is_struct_info(e: &py::Expr) -> bool {
    let e = match e {
        // A tuple of values has the same spelling.
        py::Expr::Call(call) if relax_name(&call.func).as_deref() == Some("Tuple") => {
            return call.arguments.args.iter().all(is_struct_infos);
        }
        py::Expr::Call(call) => &*call.func,
        py::Expr::Subscript(subscript) => &*subscript.value,
        other => other,
    };
    matches!(
        relax_name(e).as_deref(),
        Some("Tensor" | "Tuple" | "Object" | "Any" | "Shape" | "Prim" | "Callable" | "DTensor")
    )
}

/// Information on a tensor whose shape is a list of dimensions.
fn with_dims(shape: &Expr, info: &StructInfo) -> Option<StructInfo> {
    match (shape, info) {
        (Expr::ShapeExpr(shape), StructInfo::Tensor(tensor)) => {
            let shape = Some(TensorShape::Dims(shape.values.clone()));
            Some(StructInfo::Tensor(TensorStructInfo { shape, ..tensor.clone() }))
        }
        (_, _) => None,
    }
}
