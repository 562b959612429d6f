# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def split(var_x0: T.handle, var_T_split_sections: T.handle, var_T_split_sections_1: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    x0 = T.match_buffer(var_x0, (n, T.int64(4)))
    T_split_sections = T.match_buffer(var_T_split_sections, (n, T.int64(2)))
    T_split_sections_1 = T.match_buffer(var_T_split_sections_1, (n, T.int64(2)))
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(n, T.int64(2)):
        with T.sblock("T_split_sections"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0, v_ax1])
            T.writes(T_split_sections[v_ax0, v_ax1])
            T_split_sections[v_ax0, v_ax1] = x0[v_ax0, v_ax1]
    for ax0, ax1 in T.grid(n, T.int64(2)):
        with T.sblock("T_split_sections_1"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0, v_ax1 + T.int64(2)])
            T.writes(T_split_sections_1[v_ax0, v_ax1])
            T_split_sections_1[v_ax0, v_ax1] = x0[v_ax0, v_ax1 + T.int64(2)]
