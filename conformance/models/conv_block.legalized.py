# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(lv: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32"), lv1: T.Buffer((T.int64(1), T.int64(8), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(8), T.int64(8), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(lv[v_ax0, v_ax1, v_ax2, v_ax3], lv1[v_ax0, v_ax1, T.int64(0), T.int64(0)])
                T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add[v_ax0, v_ax1, v_ax2, v_ax3] = lv[v_ax0, v_ax1, v_ax2, v_ax3] + lv1[v_ax0, v_ax1, T.int64(0), T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def add1(conv2d1: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32"), x: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(8), T.int64(8), T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(conv2d1[v_ax0, v_ax1, v_ax2, v_ax3], x[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add[v_ax0, v_ax1, v_ax2, v_ax3] = conv2d1[v_ax0, v_ax1, v_ax2, v_ax3] + x[v_ax0, v_ax1, v_ax2, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def add2(lv2: T.Buffer((T.int64(1), T.int64(16), T.int64(4), T.int64(4)), "float32"), lv3: T.Buffer((T.int64(1), T.int64(16), T.int64(1), T.int64(1)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(16), T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(16), T.int64(4), T.int64(4)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(lv2[v_ax0, v_ax1, v_ax2, v_ax3], lv3[v_ax0, v_ax1, T.int64(0), T.int64(0)])
                T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add[v_ax0, v_ax1, v_ax2, v_ax3] = lv2[v_ax0, v_ax1, v_ax2, v_ax3] + lv3[v_ax0, v_ax1, T.int64(0), T.int64(0)]

    @T.prim_func(private=True, s_tir=True)
    def conv2d(relu: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32"), first_weight: T.Buffer((T.int64(8), T.int64(8), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(8), T.int64(10), T.int64(10)))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(8), T.int64(10), T.int64(10)):
            with T.sblock("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(relu[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = T.if_then_else(T.int64(1) <= v_i2 and v_i2 < T.int64(9) and T.int64(1) <= v_i3 and v_i3 < T.int64(9), relu[v_i0, v_i1, v_i2 - T.int64(1), v_i3 - T.int64(1)], T.float32(0.0))
        for nn, ff, yy, xx, rc, ry, rx in T.grid(T.int64(1), T.int64(8), T.int64(8), T.int64(8), T.int64(8), T.int64(3), T.int64(3)):
            with T.sblock("conv2d_nchw"):
                v_nn, v_ff, v_yy, v_xx, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [nn, ff, yy, xx, rc, ry, rx])
                T.reads(pad_temp[v_nn, v_rc, v_yy + v_ry, v_xx + v_rx], first_weight[v_ff, v_rc, v_ry, v_rx])
                T.writes(conv2d_nchw[v_nn, v_ff, v_yy, v_xx])
                with T.init():
                    conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = T.float32(0.0)
                conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = conv2d_nchw[v_nn, v_ff, v_yy, v_xx] + pad_temp[v_nn, v_rc, v_yy + v_ry, v_xx + v_rx] * first_weight[v_ff, v_rc, v_ry, v_rx]

    @T.prim_func(private=True, s_tir=True)
    def conv2d1(add: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32"), project_weight: T.Buffer((T.int64(16), T.int64(8), T.int64(1), T.int64(1)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(16), T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(8), T.int64(8), T.int64(8)):
            with T.sblock("pad_temp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(add[v_i0, v_i1, v_i2, v_i3])
                T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
                pad_temp[v_i0, v_i1, v_i2, v_i3] = add[v_i0, v_i1, v_i2, v_i3]
        for nn, ff, yy, xx, rc, ry, rx in T.grid(T.int64(1), T.int64(16), T.int64(4), T.int64(4), T.int64(8), T.int64(1), T.int64(1)):
            with T.sblock("conv2d_nchw"):
                v_nn, v_ff, v_yy, v_xx, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [nn, ff, yy, xx, rc, ry, rx])
                T.reads(pad_temp[v_nn, v_rc, v_yy * T.int64(2) + v_ry, v_xx * T.int64(2) + v_rx], project_weight[v_ff, v_rc, v_ry, v_rx])
                T.writes(conv2d_nchw[v_nn, v_ff, v_yy, v_xx])
                with T.init():
                    conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = T.float32(0.0)
                conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = conv2d_nchw[v_nn, v_ff, v_yy, v_xx] + pad_temp[v_nn, v_rc, v_yy * T.int64(2) + v_ry, v_xx * T.int64(2) + v_rx] * project_weight[v_ff, v_rc, v_ry, v_rx]

    @T.prim_func(private=True, s_tir=True)
    def group_norm(x: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32"), norm_weight: T.Buffer((T.int64(8),), "float32"), norm_bias: T.Buffer((T.int64(8),), "float32"), T_reshape: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_reshape_1 = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(4), T.int64(8), T.int64(8)))
        x_red_temp_v0 = T.sblock_alloc_buffer((T.int64(1), T.int64(2)))
        x_red_temp_v1 = T.sblock_alloc_buffer((T.int64(1), T.int64(2)))
        T_reshape_2 = T.sblock_alloc_buffer((T.int64(2), T.int64(4)))
        T_reshape_3 = T.sblock_alloc_buffer((T.int64(2), T.int64(4)))
        T_group_norm = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(4), T.int64(8), T.int64(8)))
        for ax0, ax1, ax2, ax3, ax4 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2, v_ax3, v_ax4 = T.axis.remap("SSSSS", [ax0, ax1, ax2, ax3, ax4])
                T.reads(x[T.int64(0), (v_ax1 * T.int64(4) + (v_ax4 // T.int64(8) + v_ax3) // T.int64(8) + v_ax2) % T.int64(8), (v_ax4 // T.int64(8) + v_ax3) % T.int64(8), v_ax4 % T.int64(8)])
                T.writes(T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3, v_ax4])
                T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3, v_ax4] = x[T.int64(0), (v_ax1 * T.int64(4) + (v_ax4 // T.int64(8) + v_ax3) // T.int64(8) + v_ax2) % T.int64(8), (v_ax4 // T.int64(8) + v_ax3) % T.int64(8), v_ax4 % T.int64(8)]
        for ax0, ax1, k2, k3, k4 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("x_red_temp"):
                v_ax0, v_ax1, v_k2, v_k3, v_k4 = T.axis.remap("SSRRR", [ax0, ax1, k2, k3, k4])
                T.reads(T_reshape_1[v_ax0, v_ax1, v_k2, v_k3, v_k4])
                T.writes(x_red_temp_v0[v_ax0, v_ax1], x_red_temp_v1[v_ax0, v_ax1])
                with T.init():
                    x_red_temp_v0[v_ax0, v_ax1] = T.float32(0.0)
                    x_red_temp_v1[v_ax0, v_ax1] = T.float32(0.0)
                v_x_red_temp_v0: T.let[T.float32] = x_red_temp_v0[v_ax0, v_ax1] + T_reshape_1[v_ax0, v_ax1, v_k2, v_k3, v_k4]
                v_x_red_temp_v1: T.let[T.float32] = x_red_temp_v1[v_ax0, v_ax1] + T_reshape_1[v_ax0, v_ax1, v_k2, v_k3, v_k4] * T_reshape_1[v_ax0, v_ax1, v_k2, v_k3, v_k4]
                x_red_temp_v0[v_ax0, v_ax1] = v_x_red_temp_v0
                x_red_temp_v1[v_ax0, v_ax1] = v_x_red_temp_v1
        for ax0, ax1 in T.grid(T.int64(2), T.int64(4)):
            with T.sblock("T_reshape_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(norm_weight[(v_ax0 * T.int64(4) + v_ax1) % T.int64(8)])
                T.writes(T_reshape_2[v_ax0, v_ax1])
                T_reshape_2[v_ax0, v_ax1] = norm_weight[(v_ax0 * T.int64(4) + v_ax1) % T.int64(8)]
        for ax0, ax1 in T.grid(T.int64(2), T.int64(4)):
            with T.sblock("T_reshape_2"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(norm_bias[(v_ax0 * T.int64(4) + v_ax1) % T.int64(8)])
                T.writes(T_reshape_3[v_ax0, v_ax1])
                T_reshape_3[v_ax0, v_ax1] = norm_bias[(v_ax0 * T.int64(4) + v_ax1) % T.int64(8)]
        for ax0, ax1, ax2, ax3, ax4 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(8), T.int64(8)):
            with T.sblock("T_group_norm"):
                v_ax0, v_ax1, v_ax2, v_ax3, v_ax4 = T.axis.remap("SSSSS", [ax0, ax1, ax2, ax3, ax4])
                T.reads(T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3, v_ax4], x_red_temp_v0[v_ax0, v_ax1], x_red_temp_v1[v_ax0, v_ax1], T_reshape_2[v_ax1, v_ax2], T_reshape_3[v_ax1, v_ax2])
                T.writes(T_group_norm[v_ax0, v_ax1, v_ax2, v_ax3, v_ax4])
                T_group_norm[v_ax0, v_ax1, v_ax2, v_ax3, v_ax4] = (T_reshape_1[v_ax0, v_ax1, v_ax2, v_ax3, v_ax4] - x_red_temp_v0[v_ax0, v_ax1] / T.float32(256.0)) * T.rsqrt(x_red_temp_v1[v_ax0, v_ax1] / T.float32(256.0) - x_red_temp_v0[v_ax0, v_ax1] / T.float32(256.0) * (x_red_temp_v0[v_ax0, v_ax1] / T.float32(256.0)) + T.float32(1.0000000000000001e-05)) * T_reshape_2[v_ax1, v_ax2] + T_reshape_3[v_ax1, v_ax2]
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(8), T.int64(8), T.int64(8)):
            with T.sblock("T_reshape_3"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(T_group_norm[T.int64(0), ((v_ax3 // T.int64(8) + v_ax2) // T.int64(8) + v_ax1) % T.int64(8) // T.int64(4), ((v_ax3 // T.int64(8) + v_ax2) // T.int64(8) + v_ax1) % T.int64(4), (v_ax3 // T.int64(8) + v_ax2) % T.int64(8), v_ax3 % T.int64(8)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2, v_ax3])
                T_reshape[v_ax0, v_ax1, v_ax2, v_ax3] = T_group_norm[T.int64(0), ((v_ax3 // T.int64(8) + v_ax2) // T.int64(8) + v_ax1) % T.int64(8) // T.int64(4), ((v_ax3 // T.int64(8) + v_ax2) // T.int64(8) + v_ax1) % T.int64(4), (v_ax3 // T.int64(8) + v_ax2) % T.int64(8), v_ax3 % T.int64(8)]

    @T.prim_func(private=True, s_tir=True)
    def relu(group_norm: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(8), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(8), T.int64(8), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(group_norm[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute[v_i0, v_i1, v_i2, v_i3])
                compute[v_i0, v_i1, v_i2, v_i3] = T.max(group_norm[v_i0, v_i1, v_i2, v_i3], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def relu1(conv2d2: T.Buffer((T.int64(1), T.int64(16), T.int64(4), T.int64(4)), "float32"), compute: T.Buffer((T.int64(1), T.int64(16), T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(16), T.int64(4), T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(conv2d2[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute[v_i0, v_i1, v_i2, v_i3])
                compute[v_i0, v_i1, v_i2, v_i3] = T.max(conv2d2[v_i0, v_i1, v_i2, v_i3], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def reshape(first_bias: T.Buffer((T.int64(8),), "float32"), T_reshape: T.Buffer((T.int64(1), T.int64(8), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(8), T.int64(1), T.int64(1)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(first_bias[(v_ax1 + v_ax2 + v_ax3) % T.int64(8)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2, v_ax3])
                T_reshape[v_ax0, v_ax1, v_ax2, v_ax3] = first_bias[(v_ax1 + v_ax2 + v_ax3) % T.int64(8)]

    @T.prim_func(private=True, s_tir=True)
    def reshape1(project_bias: T.Buffer((T.int64(16),), "float32"), T_reshape: T.Buffer((T.int64(1), T.int64(16), T.int64(1), T.int64(1)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(16), T.int64(1), T.int64(1)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(project_bias[(v_ax1 + v_ax2 + v_ax3) % T.int64(16)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2, v_ax3])
                T_reshape[v_ax0, v_ax1, v_ax2, v_ax3] = project_bias[(v_ax1 + v_ax2 + v_ax3) % T.int64(16)]

    @T.prim_func(private=True, s_tir=True)
    def sum(relu2: T.Buffer((T.int64(1), T.int64(16), T.int64(4), T.int64(4)), "float32"), relu2_red: T.Buffer((T.int64(1), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k2, k3 in T.grid(T.int64(1), T.int64(16), T.int64(4), T.int64(4)):
            with T.sblock("relu2_red"):
                v_ax0, v_ax1, v_k2, v_k3 = T.axis.remap("SSRR", [ax0, ax1, k2, k3])
                T.reads(relu2[v_ax0, v_ax1, v_k2, v_k3])
                T.writes(relu2_red[v_ax0, v_ax1])
                with T.init():
                    relu2_red[v_ax0, v_ax1] = T.float32(0.0)
                relu2_red[v_ax0, v_ax1] = relu2_red[v_ax0, v_ax1] + relu2[v_ax0, v_ax1, v_k2, v_k3]

    @R.function
    def forward(x: R.Tensor((1, 8, 8, 8), dtype="float32"), norm_weight: R.Tensor((8,), dtype="float32"), norm_bias: R.Tensor((8,), dtype="float32"), first_weight: R.Tensor((8, 8, 3, 3), dtype="float32"), first_bias: R.Tensor((8,), dtype="float32"), second_weight: R.Tensor((8, 8, 3, 3), dtype="float32"), project_weight: R.Tensor((16, 8, 1, 1), dtype="float32"), project_bias: R.Tensor((16,), dtype="float32")) -> R.Tensor((1, 16), dtype="float32"):
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            group_norm = R.call_tir(cls.group_norm, (x, norm_weight, norm_bias), out_sinfo=R.Tensor((1, 8, 8, 8), dtype="float32"))
            relu = R.call_tir(cls.relu, (group_norm,), out_sinfo=R.Tensor((1, 8, 8, 8), dtype="float32"))
            lv = R.call_tir(cls.conv2d, (relu, first_weight), out_sinfo=R.Tensor((1, 8, 8, 8), dtype="float32"))
            lv1 = R.call_tir(cls.reshape, (first_bias,), out_sinfo=R.Tensor((1, 8, 1, 1), dtype="float32"))
            conv2d = R.call_tir(cls.add, (lv, lv1), out_sinfo=R.Tensor((1, 8, 8, 8), dtype="float32"))
            relu1 = R.call_tir(cls.relu, (conv2d,), out_sinfo=R.Tensor((1, 8, 8, 8), dtype="float32"))
            conv2d1 = R.call_tir(cls.conv2d, (relu1, second_weight), out_sinfo=R.Tensor((1, 8, 8, 8), dtype="float32"))
            add = R.call_tir(cls.add1, (conv2d1, x), out_sinfo=R.Tensor((1, 8, 8, 8), dtype="float32"))
            lv2 = R.call_tir(cls.conv2d1, (add, project_weight), out_sinfo=R.Tensor((1, 16, 4, 4), dtype="float32"))
            lv3 = R.call_tir(cls.reshape1, (project_bias,), out_sinfo=R.Tensor((1, 16, 1, 1), dtype="float32"))
            conv2d2 = R.call_tir(cls.add2, (lv2, lv3), out_sinfo=R.Tensor((1, 16, 4, 4), dtype="float32"))
            relu2 = R.call_tir(cls.relu1, (conv2d2,), out_sinfo=R.Tensor((1, 16, 4, 4), dtype="float32"))
            sum = R.call_tir(cls.sum, (relu2,), out_sinfo=R.Tensor((1, 16), dtype="float32"))
            gv: R.Tensor((1, 16), dtype="float32") = sum
            R.output(gv)
        return gv
