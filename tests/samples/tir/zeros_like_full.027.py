# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

n = TypeVar("n")
@T.prim_func(s_tir=True)
def zeros_like_full(T_full: T.Buffer((n,), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0 in range(n):
        with T.sblock("T_full"):
            v_ax0 = T.axis.spatial(n, ax0)
            T.reads()
            T.writes(T_full[v_ax0])
            T_full[v_ax0] = T.float32(2.0)
