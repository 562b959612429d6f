# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

n = TypeVar("n")
@T.prim_func(s_tir=True)
def transpose(x0: T.Buffer((T.int64(2), n, T.int64(4)), "float32"), T_transpose: T.Buffer((T.int64(4), T.int64(2), n), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1, ax2 in T.grid(T.int64(4), T.int64(2), n):
        with T.sblock("T_transpose"):
            v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
            T.reads(x0[v_ax1, v_ax2, v_ax0])
            T.writes(T_transpose[v_ax0, v_ax1, v_ax2])
            T_transpose[v_ax0, v_ax1, v_ax2] = x0[v_ax1, v_ax2, v_ax0]
