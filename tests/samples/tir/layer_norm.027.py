# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

n = TypeVar("n")
@T.prim_func(s_tir=True)
def layer_norm(x0: T.Buffer((n, T.int64(4)), "float32"), x1: T.Buffer((T.int64(4),), "float32"), x2: T.Buffer((T.int64(4),), "float32"), T_layer_norm: T.Buffer((n, T.int64(4)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    x0_sum = T.sblock_alloc_buffer((n,))
    x0_mean = T.sblock_alloc_buffer((n,))
    x0_var_sum = T.sblock_alloc_buffer((n,))
    for ax0, k1 in T.grid(n, T.int64(4)):
        with T.sblock("x0_sum"):
            v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
            T.reads(x0[v_ax0, v_k1])
            T.writes(x0_sum[v_ax0])
            with T.init():
                x0_sum[v_ax0] = T.float32(0.0)
            x0_sum[v_ax0] = x0_sum[v_ax0] + x0[v_ax0, v_k1]
    for ax0 in range(n):
        with T.sblock("x0_mean"):
            v_ax0 = T.axis.spatial(n, ax0)
            T.reads(x0_sum[v_ax0])
            T.writes(x0_mean[v_ax0])
            x0_mean[v_ax0] = x0_sum[v_ax0] / T.float32(4.0)
    for ax0, k1 in T.grid(n, T.int64(4)):
        with T.sblock("x0_var_sum"):
            v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
            T.reads(x0[v_ax0, v_k1], x0_mean[v_ax0])
            T.writes(x0_var_sum[v_ax0])
            with T.init():
                x0_var_sum[v_ax0] = T.float32(0.0)
            x0_var_sum[v_ax0] = x0_var_sum[v_ax0] + (x0[v_ax0, v_k1] - x0_mean[v_ax0]) * (x0[v_ax0, v_k1] - x0_mean[v_ax0])
    for ax0, ax1 in T.grid(n, T.int64(4)):
        with T.sblock("T_layer_norm"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0, v_ax1], x0_mean[v_ax0], x0_var_sum[v_ax0], x1[v_ax1], x2[v_ax1])
            T.writes(T_layer_norm[v_ax0, v_ax1])
            T_layer_norm[v_ax0, v_ax1] = (x0[v_ax0, v_ax1] - x0_mean[v_ax0]) * T.rsqrt(x0_var_sum[v_ax0] / T.float32(4.0) + T.float32(1.0000000000000001e-05)) * x1[v_ax1] + x2[v_ax1]
