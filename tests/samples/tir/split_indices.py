# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def split_indices(x0: T.Buffer((T.int64(4), T.int64(2)), "float32"), T_split: T.Buffer((T.int64(1), T.int64(2)), "float32"), T_split_1: T.Buffer((T.int64(2), T.int64(2)), "float32"), T_split_2: T.Buffer((T.int64(1), T.int64(2)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(T.int64(1), T.int64(2)):
        with T.sblock("T_split"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0, v_ax1])
            T.writes(T_split[v_ax0, v_ax1])
            T_split[v_ax0, v_ax1] = x0[v_ax0, v_ax1]
    for ax0, ax1 in T.grid(T.int64(2), T.int64(2)):
        with T.sblock("T_split_1"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0 + T.int64(1), v_ax1])
            T.writes(T_split_1[v_ax0, v_ax1])
            T_split_1[v_ax0, v_ax1] = x0[v_ax0 + T.int64(1), v_ax1]
    for ax0, ax1 in T.grid(T.int64(1), T.int64(2)):
        with T.sblock("T_split_2"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0 + T.int64(3), v_ax1])
            T.writes(T_split_2[v_ax0, v_ax1])
            T_split_2[v_ax0, v_ax1] = x0[v_ax0 + T.int64(3), v_ax1]
