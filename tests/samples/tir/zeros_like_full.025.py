# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def zeros_like_full(var_T_full: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    T_full = T.match_buffer(var_T_full, (n,))
    # with T.sblock("root"):
    for ax0 in range(n):
        with T.sblock("T_full"):
            v_ax0 = T.axis.spatial(n, ax0)
            T.reads()
            T.writes(T_full[v_ax0])
            T_full[v_ax0] = T.float32(2.0)
