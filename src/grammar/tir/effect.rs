//! Side effects of the functions that TIR may call (PRIMFUNC.PURE.EFFECT).

/// The side effect of a call, as TIR declares it for its operators (`CallEffectKind`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEffect {
    /// Nothing.
    Pure,
    /// It reads state that is not among its arguments.
    ReadState,
    /// It changes state, or its effect is unknown.
    UpdateState,
    /// It changes control flow, or it only informs the compiler.
    Harmless,
}

/// The effect of a function by its name after `T.`. A function that is not listed may have any effect.
///
/// The table follows TVM 0.25, which does not distinguish opaque calls from changes of state.
pub fn effect_of(name: &str) -> CallEffect {
    match name {
        "call_pure_extern"
        | "call_llvm_pure_intrin"
        | "address_of"
        | "isnullptr"
        | "if_then_else"
        | "fma"
        | "selector"
        | "q_multiply_shift"
        | "q_multiply_shift_per_axis"
        | "vscale"
        | "get_active_lane_mask"
        | "vectorlow"
        | "vectorhigh"
        | "vectorcombine"
        | "dp4a"
        | "handle_add_byte_offset"
        | "ptr_byte_offset"
        | "type_annotation"
        | "filter"
        | "ignore_loop_partition"
        | "tvm_thread_invariant" => CallEffect::Pure,
        "undef" | "tvm_struct_get" | "anylist_getitem" | "tvm_context_id" => CallEffect::ReadState,
        "ret" | "break_loop" | "continue_loop" | "thread_return" | "tvm_access_ptr" | "tvm_static_handle"
        | "tvm_tuple" | "assume" | "likely" => CallEffect::Harmless,
        _ => CallEffect::UpdateState,
    }
}
