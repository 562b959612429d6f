//! The names of operators: those of the table, and those that an implementation has besides.

/// Operators of `tvm.relax.op` in 0.25 and 0.27 that may be called without being in the table: they are known by name, and their
/// results are objects (`SI.DERIVE.CALL.OP-DEFAULT`).
const OTHERS: &[&str] = &[
    "relax.assert_op",
    "relax.builtin.alloc_tensor",
    "relax.call_builtin_with_ctx",
    "relax.call_dps_packed",
    "relax.call_inplace_packed",
    "relax.call_pure_packed",
    "relax.call_py_func",
    "relax.call_tir",
    "relax.call_tir_inplace",
    "relax.call_tir_with_grad",
    "relax.ccl.allgather",
    "relax.ccl.allreduce",
    "relax.ccl.broadcast_from_worker0",
    "relax.ccl.scatter_from_worker0",
    "relax.dist.annotate_sharding",
    "relax.dist.call_tir_local_view",
    "relax.dist.redistribute",
    "relax.dist.redistribute_replica_to_shard",
    "relax.inspect.tensor_byte_offset",
    "relax.inspect.tensor_dtype_bits",
    "relax.inspect.tensor_dtype_code",
    "relax.inspect.tensor_dtype_lanes",
    "relax.inspect.tensor_elem_offset",
    "relax.inspect.tensor_ndim",
    "relax.inspect.tensor_shape_i",
    "relax.inspect.tensor_stride_i",
    "relax.invoke_closure",
    "relax.invoke_pure_closure",
    "relax.make_closure",
    "relax.memory.alloc_storage",
    "relax.memory.alloc_tensor",
    "relax.memory.ensure_zero_offset",
    "relax.memory.kill_storage",
    "relax.memory.kill_tensor",
    "relax.memory.view",
    "relax.print",
    "relax.shape_of",
    "relax.vm.alloc_storage",
    "relax.vm.alloc_tensor",
    "relax.vm.call_tir_dyn",
    "relax.vm.kill_object",
];

/// Whether someone knows an operator of this name.
pub fn is_known(name: &str) -> bool {
    super::lookup(name).is_some() || OTHERS.binary_search(&name).is_ok()
}

/// Every operator that someone knows.
pub fn known() -> impl Iterator<Item = &'static str> {
    super::all().map(|def| def.name).chain(OTHERS.iter().copied())
}
