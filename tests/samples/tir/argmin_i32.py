# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def argmin_i32(x0: T.Buffer((T.int64(3), T.int64(4)), "int32"), x0_red: T.Buffer((T.int64(3),), "int64")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    x0_red_temp_v0 = T.sblock_alloc_buffer((T.int64(3),), "int64")
    x0_red_temp_v1 = T.sblock_alloc_buffer((T.int64(3),), "int32")
    for ax0, k1 in T.grid(T.int64(3), T.int64(4)):
        with T.sblock("x0_red_temp"):
            v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
            T.reads(x0[v_ax0, v_k1])
            T.writes(x0_red_temp_v0[v_ax0], x0_red_temp_v1[v_ax0])
            with T.init():
                x0_red_temp_v0[v_ax0] = T.int64(-1)
                x0_red_temp_v1[v_ax0] = 2147483647
            v_x0_red_temp_v0: T.let[T.int64] = T.Select(x0_red_temp_v1[v_ax0] < x0[v_ax0, v_k1] or x0_red_temp_v1[v_ax0] == x0[v_ax0, v_k1] and x0_red_temp_v0[v_ax0] < v_k1, x0_red_temp_v0[v_ax0], v_k1)
            v_x0_red_temp_v1: T.let[T.int32] = T.Select(x0_red_temp_v1[v_ax0] < x0[v_ax0, v_k1], x0_red_temp_v1[v_ax0], x0[v_ax0, v_k1])
            x0_red_temp_v0[v_ax0] = v_x0_red_temp_v0
            x0_red_temp_v1[v_ax0] = v_x0_red_temp_v1
    for ax0 in range(T.int64(3)):
        with T.sblock("x0_red"):
            v_ax0 = T.axis.spatial(T.int64(3), ax0)
            T.reads(x0_red_temp_v0[v_ax0])
            T.writes(x0_red[v_ax0])
            x0_red[v_ax0] = x0_red_temp_v0[v_ax0]
