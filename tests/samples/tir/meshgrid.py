# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def meshgrid(x0: T.Buffer((T.int64(3),), "float32"), x1: T.Buffer((T.int64(2),), "float32"), T_meshgrid: T.Buffer((T.int64(3), T.int64(2)), "float32"), T_meshgrid_1: T.Buffer((T.int64(3), T.int64(2)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(T.int64(3), T.int64(2)):
        with T.sblock("T_meshgrid"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0])
            T.writes(T_meshgrid[v_ax0, v_ax1])
            T_meshgrid[v_ax0, v_ax1] = x0[v_ax0]
    for ax0, ax1 in T.grid(T.int64(3), T.int64(2)):
        with T.sblock("T_meshgrid_1"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x1[v_ax1])
            T.writes(T_meshgrid_1[v_ax0, v_ax1])
            T_meshgrid_1[v_ax0, v_ax1] = x1[v_ax1]
