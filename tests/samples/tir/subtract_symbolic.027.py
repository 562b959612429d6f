# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

n = TypeVar("n")
@T.prim_func(s_tir=True)
def subtract_symbolic(x0: T.Buffer((n, T.int64(3)), "float32"), x1: T.Buffer((n, T.int64(3)), "float32"), T_subtract: T.Buffer((n, T.int64(3)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(n, T.int64(3)):
        with T.sblock("T_subtract"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0, v_ax1], x1[v_ax0, v_ax1])
            T.writes(T_subtract[v_ax0, v_ax1])
            T_subtract[v_ax0, v_ax1] = x0[v_ax0, v_ax1] - x1[v_ax0, v_ax1]
