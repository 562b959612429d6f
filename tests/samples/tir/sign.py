# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def sign(x0: T.Buffer((T.int64(6),), "float32"), T_sign: T.Buffer((T.int64(6),), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0 in range(T.int64(6)):
        with T.sblock("T_sign"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(x0[v_ax0])
            T.writes(T_sign[v_ax0])
            T_sign[v_ax0] = T.Select(T.float32(0.0) < x0[v_ax0], T.float32(1.0), T.Select(x0[v_ax0] < T.float32(0.0), T.float32(-1.0), T.float32(0.0)))
