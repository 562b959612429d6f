# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def einsum(x0: T.Buffer((T.int64(2), T.int64(3)), "float32"), x1: T.Buffer((T.int64(3), T.int64(4)), "float32"), T_einsum: T.Buffer((T.int64(4), T.int64(2)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1, j in T.grid(T.int64(4), T.int64(2), T.int64(3)):
        with T.sblock("T_einsum"):
            v_ax0, v_ax1, v_j = T.axis.remap("SSR", [ax0, ax1, j])
            T.reads(x0[v_ax1, v_j], x1[v_j, v_ax0])
            T.writes(T_einsum[v_ax0, v_ax1])
            with T.init():
                T_einsum[v_ax0, v_ax1] = T.float32(0.0)
            T_einsum[v_ax0, v_ax1] = T_einsum[v_ax0, v_ax1] + x0[v_ax1, v_j] * x1[v_j, v_ax0]
