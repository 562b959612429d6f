# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

n = TypeVar("n")
@T.prim_func(s_tir=True)
def sum(x0: T.Buffer((n, T.int64(4)), "float32"), x0_red: T.Buffer((n,), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, k1 in T.grid(n, T.int64(4)):
        with T.sblock("x0_red"):
            v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
            T.reads(x0[v_ax0, v_k1])
            T.writes(x0_red[v_ax0])
            with T.init():
                x0_red[v_ax0] = T.float32(0.0)
            x0_red[v_ax0] = x0_red[v_ax0] + x0[v_ax0, v_k1]
