//! The functions that lowering adds to TIR, and other calls without a meaning here. They are kept unchanged.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::expr::TirOperand;
use super::{ParseResult, ParsedName, Parser};
use crate::grammar::tir::{Expr, Extern};
use crate::grammar::{DataType, Span};

/// The source of the datatype of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax::tvmscript) enum Gives {
    /// It is always this one.
    One(DataType),
    /// It is that of an operand.
    Operand(usize),
    /// It is written before the operands.
    First,
    /// It is written after the operands.
    Last,
}

/// The builtin functions by their names after `T.`; those of devices by their prefix.
pub(in crate::syntax::tvmscript) fn gives(name: &str) -> Option<Gives> {
    Some(match name {
        "call_extern"
        | "call_pure_extern"
        | "call_intrin"
        | "call_llvm_intrin"
        | "call_llvm_pure_intrin"
        | "get_active_lane_mask"
        | "type_annotation"
        | "vectorlow"
        | "vectorhigh"
        | "vectorcombine"
        | "dp4a" => Gives::First,
        "tvm_struct_get" => Gives::Last,
        "tvm_thread_invariant" | "fma" | "selector" => Gives::Operand(0),
        "tvm_warp_shuffle" | "tvm_warp_shuffle_up" | "tvm_warp_shuffle_down" => Gives::Operand(1),
        "assume" | "filter" | "isnullptr" | "ignore_loop_partition" => Gives::One(DataType::BOOL),
        "tvm_warp_activemask" => Gives::One(DataType::UINT32),
        "call_packed"
        | "call_cpacked"
        | "tvm_call_packed"
        | "tvm_call_cpacked"
        | "call_packed_lowered"
        | "call_cpacked_lowered"
        | "tvm_call_packed_lowered"
        | "tvm_call_cpacked_lowered"
        | "call_ffi_kernel"
        | "anylist_resetitem"
        | "anylist_setitem_call_packed"
        | "anylist_setitem_call_cpacked"
        | "tvm_struct_set"
        | "TVMBackendFreeWorkspace"
        | "undef"
        | "vscale"
        | "q_multiply_shift"
        | "q_multiply_shift_per_axis" => Gives::One(DataType::INT32),
        "tvm_storage_sync"
        | "thread_return"
        | "tvm_kernel_replace_point"
        | "tvm_global_barrier_kinit"
        | "tvm_thread_allreduce_end"
        | "prefetch" => Gives::One(DataType::VOID),
        _ if is_handle(name) || is_of_device(name) => Gives::One(DataType::HANDLE),
        _ => return None,
    })
}

/// The functions that return a handle, or nothing useful.
fn is_handle(name: &str) -> bool {
    matches!(
        name,
        "anylist_getitem"
            | "tvm_stack_make_array"
            | "tvm_stack_make_shape"
            | "tvm_stack_alloca"
            | "tvm_tuple"
            | "tvm_context_id"
            | "address_of"
            | "handle_add_byte_offset"
            | "ptr_byte_offset"
            | "tvm_access_ptr"
            | "tvm_static_handle"
            | "tvm_thread_allreduce"
            | "tvm_throw_last_error"
            | "lookup_param"
            | "start_profile_intrinsic"
            | "end_profile_intrinsic"
            | "TVMBackendAllocWorkspace"
            | "texture2d_store"
            | "texture2d_load"
            | "mem_copy"
            | "dma_copy"
            | "dma_wait"
            | "dma_start_group"
            | "dma_end_group"
            | "tvm_load_matrix_sync"
            | "tvm_mma_sync"
            | "tvm_bmma_sync"
            | "tvm_fill_fragment"
            | "tvm_store_matrix_sync"
            | "make_filled_simdgroup_matrix"
            | "simdgroup_load"
            | "simdgroup_store"
            | "simdgroup_multiply_accumulate"
            | "type_tag"
            | "print_buffer"
            | "timer_init_cuda"
            | "timer_start_cuda"
            | "timer_end_cuda"
            | "timer_finalize_cuda"
    )
}

/// The functions of a kind of device.
fn is_of_device(name: &str) -> bool {
    let device = name.split(['.', '_']).next().unwrap_or_default();
    matches!(device, "ptx" | "cuda" | "nki" | "metal" | "webgpu" | "nvshmem" | "cooperative" | "mma" | "simdgroup")
}

impl Parser<'_> {
    /// A call of a function of which only the name is known.
    pub(super) fn builtin(
        &mut self,
        call: &py::ExprCall,
        name: &str,
        operands: &[py::Expr],
    ) -> ParseResult<TirOperand> {
        let Some(gives) = gives(name) else {
            return self.error(call, format!("no function `T.{name}` with these arguments is known"));
        };
        let (dtype, operands) = match (gives, operands) {
            (Gives::One(dtype), operands) => (Some(dtype), operands),
            (Gives::First, [dtype, operands @ ..]) => (Some(self.dtype(dtype)?), operands),
            (Gives::Last, [operands @ .., dtype]) => (Some(self.dtype(dtype)?), operands),
            (Gives::Operand(_), operands) => (None, operands),
            (Gives::First | Gives::Last, []) => return self.error(call, "expected a data type"),
        };
        let mut args = operands.iter().map(|e| self.builtin_operand(e)).collect::<ParseResult<Vec<_>>>()?;
        let mut dtype = dtype.unwrap_or_else(|| {
            let at = if let Gives::Operand(at) = gives { at } else { 0 };
            args.get(at).map_or(DataType::HANDLE, Expr::dtype)
        });
        for keyword in &call.arguments.keywords {
            match keyword.arg.as_ref().map(|arg| arg.as_str()) {
                Some("ret_ty" | "dtype") => dtype = self.dtype(&keyword.value)?,
                Some(_) => args.extend(
                    super::args::elements(&keyword.value)
                        .iter()
                        .map(|e| self.builtin_operand(e))
                        .collect::<ParseResult<Vec<_>>>()?,
                ),
                None => return self.error(keyword, "a starred argument is not supported"),
            }
        }
        Ok(TirOperand::Typed(extern_call(name, dtype, args, self.span(call.range()))))
    }

    /// An operand. The name of a buffer stands for its memory, and `None` for no value.
    fn builtin_operand(&mut self, e: &py::Expr) -> ParseResult<Expr> {
        match e {
            py::Expr::NoneLiteral(_) => Ok(Expr::Int(0, DataType::HANDLE)),
            py::Expr::Name(name) => match self.lookup(&name.id) {
                Some(ParsedName::Buffer(buffer)) if buffer.shape.len() != 1 => {
                    Ok(Expr::Data(buffer.var(self.span(name.range))))
                }
                Some(_) | None => self.expr(e),
            },
            _ => self.expr(e),
        }
    }

    /// `Module.f(args)`, a call of another function of the module. It has no result unless the call states one.
    pub(super) fn call_of_module(&mut self, call: &py::ExprCall, name: &str) -> ParseResult<TirOperand> {
        let args = call.arguments.args.iter().map(|e| self.builtin_operand(e)).collect::<ParseResult<Vec<_>>>()?;
        let mut dtype = DataType::VOID;
        for keyword in &call.arguments.keywords {
            match keyword.arg.as_ref().map(|arg| arg.as_str()) {
                Some("dtype") => dtype = self.dtype(&keyword.value)?,
                Some(_) | None => return self.error(keyword, "expected arguments by position"),
            }
        }
        let span = self.span(call.range());
        Ok(TirOperand::Typed(Expr::Extern(Extern { op: name.into(), of_module: true, dtype, args, span })))
    }

    /// `return value`, which ends the function.
    pub(super) fn return_stmt(&mut self, stmt: &py::StmtReturn) -> ParseResult<Expr> {
        self.returned(stmt.value.as_deref(), self.span(stmt.range))
    }

    /// `T.ret(value)`, which is equivalent.
    pub(super) fn ret(&mut self, call: &py::ExprCall, value: Option<&py::Expr>) -> ParseResult<TirOperand> {
        self.returned(value, self.span(call.range())).map(TirOperand::Typed)
    }

    /// The returned value. A number has the declared datatype of the result.
    fn returned(&mut self, value: Option<&py::Expr>, span: Span) -> ParseResult<Expr> {
        let Some(value) = value else { return Ok(extern_call("ret", DataType::VOID, Vec::new(), span)) };
        let value = match self.returns {
            Some(dtype) => self.expr_as(value, dtype)?,
            None => self.expr(value)?,
        };
        Ok(extern_call("ret", value.dtype(), vec![value], span))
    }
}

fn extern_call(name: &str, dtype: DataType, args: Vec<Expr>, span: Span) -> Expr {
    Expr::Extern(Extern { op: name.into(), of_module: false, dtype, args, span })
}
