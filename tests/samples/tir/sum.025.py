# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def sum(var_x0: T.handle, var_x0_red: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    x0 = T.match_buffer(var_x0, (n, T.int64(4)))
    x0_red = T.match_buffer(var_x0_red, (n,))
    # with T.sblock("root"):
    for ax0, k1 in T.grid(n, T.int64(4)):
        with T.sblock("x0_red"):
            v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
            T.reads(x0[v_ax0, v_k1])
            T.writes(x0_red[v_ax0])
            with T.init():
                x0_red[v_ax0] = T.float32(0.0)
            x0_red[v_ax0] = x0_red[v_ax0] + x0[v_ax0, v_k1]
