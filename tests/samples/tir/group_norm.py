# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def group_norm(x0: T.Buffer((T.int64(1), T.int64(4), T.int64(3)), "float32"), x1: T.Buffer((T.int64(4),), "float32"), x2: T.Buffer((T.int64(4),), "float32"), T_reshape: T.Buffer((T.int64(1), T.int64(4), T.int64(3)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    T_reshape_1 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(3)))
    x0_red_temp_v0 = T.sblock_alloc_buffer((T.int64(1), T.int64(2)))
    x0_red_temp_v1 = T.sblock_alloc_buffer((T.int64(1), T.int64(2)))
    T_reshape_2 = T.sblock_alloc_buffer((T.int64(2), T.int64(2)))
    T_reshape_3 = T.sblock_alloc_buffer((T.int64(2), T.int64(2)))
    T_group_norm = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(3)))
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(3)):
        with T.sblock("T_reshape"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(x0[T.int64(0), (v_ax1 * T.int64(2) + v_ax3 // T.int64(3) + v_ax2) % T.int64(4), v_ax3 % T.int64(3)])
            T.writes(T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3])
            T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3] = x0[T.int64(0), (v_ax1 * T.int64(2) + v_ax3 // T.int64(3) + v_ax2) % T.int64(4), v_ax3 % T.int64(3)]
    for ax0, ax1, k2, k3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(3)):
        with T.sblock("x0_red_temp"):
            v_ax0, v_ax1, v_k2, v_k3 = T.axis.remap("SSRR", [ax0, ax1, k2, k3])
            T.reads(T_reshape_1[v_ax0, v_ax1, v_k2, v_k3])
            T.writes(x0_red_temp_v0[v_ax0, v_ax1], x0_red_temp_v1[v_ax0, v_ax1])
            with T.init():
                x0_red_temp_v0[v_ax0, v_ax1] = T.float32(0.0)
                x0_red_temp_v1[v_ax0, v_ax1] = T.float32(0.0)
            v_x0_red_temp_v0: T.let[T.float32] = x0_red_temp_v0[v_ax0, v_ax1] + T_reshape_1[v_ax0, v_ax1, v_k2, v_k3]
            v_x0_red_temp_v1: T.let[T.float32] = x0_red_temp_v1[v_ax0, v_ax1] + T_reshape_1[v_ax0, v_ax1, v_k2, v_k3] * T_reshape_1[v_ax0, v_ax1, v_k2, v_k3]
            x0_red_temp_v0[v_ax0, v_ax1] = v_x0_red_temp_v0
            x0_red_temp_v1[v_ax0, v_ax1] = v_x0_red_temp_v1
    for ax0, ax1 in T.grid(T.int64(2), T.int64(2)):
        with T.sblock("T_reshape_1"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x1[(v_ax0 * T.int64(2) + v_ax1) % T.int64(4)])
            T.writes(T_reshape_2[v_ax0, v_ax1])
            T_reshape_2[v_ax0, v_ax1] = x1[(v_ax0 * T.int64(2) + v_ax1) % T.int64(4)]
    for ax0, ax1 in T.grid(T.int64(2), T.int64(2)):
        with T.sblock("T_reshape_2"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x2[(v_ax0 * T.int64(2) + v_ax1) % T.int64(4)])
            T.writes(T_reshape_3[v_ax0, v_ax1])
            T_reshape_3[v_ax0, v_ax1] = x2[(v_ax0 * T.int64(2) + v_ax1) % T.int64(4)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(3)):
        with T.sblock("T_group_norm"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3], x0_red_temp_v0[v_ax0, v_ax1], x0_red_temp_v1[v_ax0, v_ax1], T_reshape_2[v_ax1, v_ax2], T_reshape_3[v_ax1, v_ax2])
            T.writes(T_group_norm[v_ax0, v_ax1, v_ax2, v_ax3])
            T_group_norm[v_ax0, v_ax1, v_ax2, v_ax3] = (T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3] - x0_red_temp_v0[v_ax0, v_ax1] / T.float32(6.0)) * T.rsqrt(x0_red_temp_v1[v_ax0, v_ax1] / T.float32(6.0) - x0_red_temp_v0[v_ax0, v_ax1] / T.float32(6.0) * (x0_red_temp_v0[v_ax0, v_ax1] / T.float32(6.0)) + T.float32(1.0000000000000001e-05)) * T_reshape_2[v_ax1, v_ax2] + T_reshape_3[v_ax1, v_ax2]
    for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(4), T.int64(3)):
        with T.sblock("T_reshape_3"):
            v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
            T.reads(T_group_norm[T.int64(0), (v_ax2 // T.int64(3) + v_ax1) % T.int64(4) // T.int64(2), (v_ax2 // T.int64(3) + v_ax1) % T.int64(2), v_ax2 % T.int64(3)])
            T.writes(T_reshape[v_ax0, v_ax1, v_ax2])
            T_reshape[v_ax0, v_ax1, v_ax2] = T_group_norm[T.int64(0), (v_ax2 // T.int64(3) + v_ax1) % T.int64(4) // T.int64(2), (v_ax2 // T.int64(3) + v_ax1) % T.int64(2), v_ax2 % T.int64(3)]
