# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

n = TypeVar("n")
@T.prim_func(s_tir=True)
def max(x0: T.Buffer((n, T.int64(4)), "int8"), x0_red: T.Buffer((n, T.int64(1)), "int8")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1, k1 in T.grid(n, T.int64(1), T.int64(4)):
        with T.sblock("x0_red"):
            v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
            T.reads(x0[v_ax0, v_k1])
            T.writes(x0_red[v_ax0, v_ax1])
            with T.init():
                x0_red[v_ax0, v_ax1] = T.int8(-128)
            x0_red[v_ax0, v_ax1] = T.max(x0_red[v_ax0, v_ax1], x0[v_ax0, v_k1])
