# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def batch_norm(x0: T.Buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)), "float32"), x1: T.Buffer((T.int64(2),), "float32"), x2: T.Buffer((T.int64(2),), "float32"), x3: T.Buffer((T.int64(2),), "float32"), x4: T.Buffer((T.int64(2),), "float32"), T_add: T.Buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)), "float32"), T_add_1: T.Buffer((T.int64(2),), "float32"), T_add_2: T.Buffer((T.int64(2),), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    x0_red = T.sblock_alloc_buffer((T.int64(2),))
    T_divide = T.sblock_alloc_buffer((T.int64(2),))
    T_reshape = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(1), T.int64(1)))
    T_subtract = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)))
    T_subtract_1 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)))
    T_subtract_2 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)))
    T_multiply = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)))
    T_multiply_red = T.sblock_alloc_buffer((T.int64(2),))
    T_divide_1 = T.sblock_alloc_buffer((T.int64(2),))
    T_reshape_1 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(1), T.int64(1)))
    T_add_3 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(1), T.int64(1)))
    compute = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(1), T.int64(1)))
    T_divide_2 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)))
    T_reshape_2 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(1), T.int64(1)))
    T_multiply_1 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(2), T.int64(2)))
    T_reshape_3 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(1), T.int64(1)))
    T_multiply_2 = T.sblock_alloc_buffer((T.int64(2),))
    T_multiply_3 = T.sblock_alloc_buffer((T.int64(2),))
    T_multiply_4 = T.sblock_alloc_buffer((T.int64(2),))
    T_multiply_5 = T.sblock_alloc_buffer((T.int64(2),))
    for ax0, k0, k2, k3 in T.grid(T.int64(2), T.int64(1), T.int64(2), T.int64(2)):
        with T.sblock("x0_red"):
            v_ax0, v_k0, v_k2, v_k3 = T.axis.remap("SRRR", [ax0, k0, k2, k3])
            T.reads(x0[v_k0, v_ax0, v_k2, v_k3])
            T.writes(x0_red[v_ax0])
            with T.init():
                x0_red[v_ax0] = T.float32(0.0)
            x0_red[v_ax0] = x0_red[v_ax0] + x0[v_k0, v_ax0, v_k2, v_k3]
    for ax0 in range(T.int64(2)):
        with T.sblock("T_divide"):
            v_ax0 = T.axis.spatial(T.int64(2), ax0)
            T.reads(x0_red[v_ax0])
            T.writes(T_divide[v_ax0])
            T_divide[v_ax0] = x0_red[v_ax0] / T.float32(4.0)
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(1), T.int64(1)):
        with T.sblock("T_reshape"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(T_divide[(v_ax1 + v_ax2 + v_ax3) % T.int64(2)])
            T.writes(T_reshape[v_ax0, v_ax1, v_ax2, v_ax3])
            T_reshape[v_ax0, v_ax1, v_ax2, v_ax3] = T_divide[(v_ax1 + v_ax2 + v_ax3) % T.int64(2)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(2)):
        with T.sblock("T_subtract"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(x0[v_ax0, v_ax1, v_ax2, v_ax3], T_reshape[v_ax0, v_ax1, T.int64(0), T.int64(0)])
            T.writes(T_subtract[v_ax0, v_ax1, v_ax2, v_ax3])
            T_subtract[v_ax0, v_ax1, v_ax2, v_ax3] = x0[v_ax0, v_ax1, v_ax2, v_ax3] - T_reshape[v_ax0, v_ax1, T.int64(0), T.int64(0)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(2)):
        with T.sblock("T_subtract_1"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(x0[v_ax0, v_ax1, v_ax2, v_ax3], T_reshape[v_ax0, v_ax1, T.int64(0), T.int64(0)])
            T.writes(T_subtract_1[v_ax0, v_ax1, v_ax2, v_ax3])
            T_subtract_1[v_ax0, v_ax1, v_ax2, v_ax3] = x0[v_ax0, v_ax1, v_ax2, v_ax3] - T_reshape[v_ax0, v_ax1, T.int64(0), T.int64(0)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(2)):
        with T.sblock("T_subtract_2"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(x0[v_ax0, v_ax1, v_ax2, v_ax3], T_reshape[v_ax0, v_ax1, T.int64(0), T.int64(0)])
            T.writes(T_subtract_2[v_ax0, v_ax1, v_ax2, v_ax3])
            T_subtract_2[v_ax0, v_ax1, v_ax2, v_ax3] = x0[v_ax0, v_ax1, v_ax2, v_ax3] - T_reshape[v_ax0, v_ax1, T.int64(0), T.int64(0)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(2)):
        with T.sblock("T_multiply"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(T_subtract_1[v_ax0, v_ax1, v_ax2, v_ax3], T_subtract_2[v_ax0, v_ax1, v_ax2, v_ax3])
            T.writes(T_multiply[v_ax0, v_ax1, v_ax2, v_ax3])
            T_multiply[v_ax0, v_ax1, v_ax2, v_ax3] = T_subtract_1[v_ax0, v_ax1, v_ax2, v_ax3] * T_subtract_2[v_ax0, v_ax1, v_ax2, v_ax3]
    for ax0, k0, k2, k3 in T.grid(T.int64(2), T.int64(1), T.int64(2), T.int64(2)):
        with T.sblock("T_multiply_red"):
            v_ax0, v_k0, v_k2, v_k3 = T.axis.remap("SRRR", [ax0, k0, k2, k3])
            T.reads(T_multiply[v_k0, v_ax0, v_k2, v_k3])
            T.writes(T_multiply_red[v_ax0])
            with T.init():
                T_multiply_red[v_ax0] = T.float32(0.0)
            T_multiply_red[v_ax0] = T_multiply_red[v_ax0] + T_multiply[v_k0, v_ax0, v_k2, v_k3]
    for ax0 in range(T.int64(2)):
        with T.sblock("T_divide_1"):
            v_ax0 = T.axis.spatial(T.int64(2), ax0)
            T.reads(T_multiply_red[v_ax0])
            T.writes(T_divide_1[v_ax0])
            T_divide_1[v_ax0] = T_multiply_red[v_ax0] / T.float32(4.0)
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(1), T.int64(1)):
        with T.sblock("T_reshape_1"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(T_divide_1[(v_ax1 + v_ax2 + v_ax3) % T.int64(2)])
            T.writes(T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3])
            T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3] = T_divide_1[(v_ax1 + v_ax2 + v_ax3) % T.int64(2)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(1), T.int64(1)):
        with T.sblock("T_add"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3])
            T.writes(T_add_3[v_ax0, v_ax1, v_ax2, v_ax3])
            T_add_3[v_ax0, v_ax1, v_ax2, v_ax3] = T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3] + T.float32(1.0000000000000001e-05)
    for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(1), T.int64(1)):
        with T.sblock("compute"):
            v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(T_add_3[v_i0, v_i1, v_i2, v_i3])
            T.writes(compute[v_i0, v_i1, v_i2, v_i3])
            compute[v_i0, v_i1, v_i2, v_i3] = T.sqrt(T_add_3[v_i0, v_i1, v_i2, v_i3])
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(2)):
        with T.sblock("T_divide_2"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(T_subtract[v_ax0, v_ax1, v_ax2, v_ax3], compute[v_ax0, v_ax1, T.int64(0), T.int64(0)])
            T.writes(T_divide_2[v_ax0, v_ax1, v_ax2, v_ax3])
            T_divide_2[v_ax0, v_ax1, v_ax2, v_ax3] = T_subtract[v_ax0, v_ax1, v_ax2, v_ax3] / compute[v_ax0, v_ax1, T.int64(0), T.int64(0)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(1), T.int64(1)):
        with T.sblock("T_reshape_2"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(x1[(v_ax1 + v_ax2 + v_ax3) % T.int64(2)])
            T.writes(T_reshape_2[v_ax0, v_ax1, v_ax2, v_ax3])
            T_reshape_2[v_ax0, v_ax1, v_ax2, v_ax3] = x1[(v_ax1 + v_ax2 + v_ax3) % T.int64(2)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(2)):
        with T.sblock("T_multiply_1"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(T_divide_2[v_ax0, v_ax1, v_ax2, v_ax3], T_reshape_2[v_ax0, v_ax1, T.int64(0), T.int64(0)])
            T.writes(T_multiply_1[v_ax0, v_ax1, v_ax2, v_ax3])
            T_multiply_1[v_ax0, v_ax1, v_ax2, v_ax3] = T_divide_2[v_ax0, v_ax1, v_ax2, v_ax3] * T_reshape_2[v_ax0, v_ax1, T.int64(0), T.int64(0)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(1), T.int64(1)):
        with T.sblock("T_reshape_3"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(x2[(v_ax1 + v_ax2 + v_ax3) % T.int64(2)])
            T.writes(T_reshape_3[v_ax0, v_ax1, v_ax2, v_ax3])
            T_reshape_3[v_ax0, v_ax1, v_ax2, v_ax3] = x2[(v_ax1 + v_ax2 + v_ax3) % T.int64(2)]
    for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(2), T.int64(2)):
        with T.sblock("T_add_1"):
            v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
            T.reads(T_multiply_1[v_ax0, v_ax1, v_ax2, v_ax3], T_reshape_3[v_ax0, v_ax1, T.int64(0), T.int64(0)])
            T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
            T_add[v_ax0, v_ax1, v_ax2, v_ax3] = T_multiply_1[v_ax0, v_ax1, v_ax2, v_ax3] + T_reshape_3[v_ax0, v_ax1, T.int64(0), T.int64(0)]
    for ax0 in range(T.int64(2)):
        with T.sblock("T_multiply_2"):
            v_ax0 = T.axis.spatial(T.int64(2), ax0)
            T.reads(x3[v_ax0])
            T.writes(T_multiply_2[v_ax0])
            T_multiply_2[v_ax0] = T.float32(0.90000000000000002) * x3[v_ax0]
    for ax0 in range(T.int64(2)):
        with T.sblock("T_multiply_3"):
            v_ax0 = T.axis.spatial(T.int64(2), ax0)
            T.reads(T_divide[v_ax0])
            T.writes(T_multiply_3[v_ax0])
            T_multiply_3[v_ax0] = T.float32(0.10000000000000001) * T_divide[v_ax0]
    for ax0 in range(T.int64(2)):
        with T.sblock("T_add_2"):
            v_ax0 = T.axis.spatial(T.int64(2), ax0)
            T.reads(T_multiply_2[v_ax0], T_multiply_3[v_ax0])
            T.writes(T_add_1[v_ax0])
            T_add_1[v_ax0] = T_multiply_2[v_ax0] + T_multiply_3[v_ax0]
    for ax0 in range(T.int64(2)):
        with T.sblock("T_multiply_4"):
            v_ax0 = T.axis.spatial(T.int64(2), ax0)
            T.reads(x4[v_ax0])
            T.writes(T_multiply_4[v_ax0])
            T_multiply_4[v_ax0] = T.float32(0.90000000000000002) * x4[v_ax0]
    for ax0 in range(T.int64(2)):
        with T.sblock("T_multiply_5"):
            v_ax0 = T.axis.spatial(T.int64(2), ax0)
            T.reads(T_divide_1[v_ax0])
            T.writes(T_multiply_5[v_ax0])
            T_multiply_5[v_ax0] = T.float32(0.10000000000000001) * T_divide_1[v_ax0]
    for ax0 in range(T.int64(2)):
        with T.sblock("T_add_3"):
            v_ax0 = T.axis.spatial(T.int64(2), ax0)
            T.reads(T_multiply_4[v_ax0], T_multiply_5[v_ax0])
            T.writes(T_add_2[v_ax0])
            T_add_2[v_ax0] = T_multiply_4[v_ax0] + T_multiply_5[v_ax0]
