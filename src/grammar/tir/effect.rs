//! What the functions that TIR may call do besides giving a value (PRIMFUNC.PURE.EFFECT).

/// What a call does besides giving a value, as TIR's operators say of themselves (`CallEffectKind`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEffect {
    /// Nothing.
    Pure,
    /// It reads a state that is not among its arguments.
    ReadState,
    /// It changes a state, or what it does is not known.
    UpdateState,
    /// It says where the function goes on; or it says something to the compiler.
    Harmless,
}

/// The effect of a function by its name after `T.`. Of one that is not listed anything is possible.
///
/// As TVM 0.25 registers them, where opaque and changing a state are one and the same.
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
