# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(mul: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32"), mul1: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(4), T.int64(16)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(mul[v_ax0, v_ax1, v_ax2, v_ax3], mul1[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add[v_ax0, v_ax1, v_ax2, v_ax3] = mul[v_ax0, v_ax1, v_ax2, v_ax3] + mul1[v_ax0, v_ax1, v_ax2, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def add1(var_mul4: T.handle, var_concat: T.handle, var_T_add: T.handle, past: T.int64):
        T.func_attr({"tirx.noalias": True})
        mul4 = T.match_buffer(var_mul4, (T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        concat = T.match_buffer(var_concat, (T.int64(1), T.int64(1), T.int64(32), past + T.int64(32)))
        T_add = T.match_buffer(var_T_add, (T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(mul4[v_ax0, v_ax1, v_ax2, v_ax3], concat[v_ax0, T.int64(0), v_ax2, v_ax3])
                T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add[v_ax0, v_ax1, v_ax2, v_ax3] = mul4[v_ax0, v_ax1, v_ax2, v_ax3] + concat[v_ax0, T.int64(0), v_ax2, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def add2(x: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32"), matmul5: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(32), T.int64(64)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(x[v_ax0, v_ax1, v_ax2], matmul5[v_ax0, v_ax1, v_ax2])
                T.writes(T_add[v_ax0, v_ax1, v_ax2])
                T_add[v_ax0, v_ax1, v_ax2] = x[v_ax0, v_ax1, v_ax2] + matmul5[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def concatenate(var_zeros: T.handle, triu: T.Buffer((T.int64(1), T.int64(1), T.int64(32), T.int64(32)), "float32"), var_T_concat: T.handle):
        T.func_attr({"tirx.noalias": True})
        past = T.int64()
        zeros = T.match_buffer(var_zeros, (T.int64(1), T.int64(1), T.int64(32), past))
        T_concat = T.match_buffer(var_T_concat, (T.int64(1), T.int64(1), T.int64(32), past + T.int64(32)))
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(1), T.int64(32), past + T.int64(32)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(triu[v_ax0, v_ax1, v_ax2, v_ax3 - past], zeros[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_concat[v_ax0, v_ax1, v_ax2, v_ax3])
                T_concat[v_ax0, v_ax1, v_ax2, v_ax3] = T.if_then_else(T.int64(0) <= v_ax3 - past, triu[v_ax0, v_ax1, v_ax2, v_ax3 - past], zeros[v_ax0, v_ax1, v_ax2, v_ax3])

    @T.prim_func(private=True, s_tir=True)
    def concatenate1(neg: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(8)), "float32"), split_0: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(8)), "float32"), T_concat: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(4), T.int64(16)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(split_0[v_ax0, v_ax1, v_ax2, v_ax3 - T.int64(8)], neg[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_concat[v_ax0, v_ax1, v_ax2, v_ax3])
                T_concat[v_ax0, v_ax1, v_ax2, v_ax3] = T.if_then_else(T.int64(8) <= v_ax3, split_0[v_ax0, v_ax1, v_ax2, v_ax3 - T.int64(8)], neg[v_ax0, v_ax1, v_ax2, v_ax3])

    @T.prim_func(private=True, s_tir=True)
    def concatenate2(var_keys: T.handle, add1: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32"), var_T_concat: T.handle):
        T.func_attr({"tirx.noalias": True})
        past = T.int64()
        keys = T.match_buffer(var_keys, (T.int64(1), past, T.int64(4), T.int64(16)))
        T_concat = T.match_buffer(var_T_concat, (T.int64(1), past + T.int64(32), T.int64(4), T.int64(16)))
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), past + T.int64(32), T.int64(4), T.int64(16)):
            with T.sblock("T_concat"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(add1[v_ax0, v_ax1 - past, v_ax2, v_ax3], keys[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_concat[v_ax0, v_ax1, v_ax2, v_ax3])
                T_concat[v_ax0, v_ax1, v_ax2, v_ax3] = T.if_then_else(T.int64(0) <= v_ax1 - past, add1[v_ax0, v_ax1 - past, v_ax2, v_ax3], keys[v_ax0, v_ax1, v_ax2, v_ax3])

    @T.prim_func(private=True, s_tir=True)
    def full(T_full: T.Buffer((T.int64(1), T.int64(1), T.int64(32), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(1), T.int64(32), T.int64(32)):
            with T.sblock("T_full"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads()
                T.writes(T_full[v_ax0, v_ax1, v_ax2, v_ax3])
                T_full[v_ax0, v_ax1, v_ax2, v_ax3] = T.float32(-1000000000.0)

    @T.prim_func(private=True, s_tir=True)
    def matmul(rms_norm: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32"), permute_dims: T.Buffer((T.int64(64), T.int64(64)), "float32"), matmul: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(32), T.int64(64), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(rms_norm[v_i0, v_i1, v_k], permute_dims[v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + rms_norm[v_i0, v_i1, v_k] * permute_dims[v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(permute_dims3: T.Buffer((T.int64(1), T.int64(4), T.int64(32), T.int64(16)), "float32"), var_permute_dims4: T.handle, var_matmul: T.handle, past: T.int64):
        T.func_attr({"tirx.noalias": True})
        permute_dims4 = T.match_buffer(var_permute_dims4, (T.int64(1), T.int64(4), T.int64(16), past + T.int64(32)))
        matmul = T.match_buffer(var_matmul, (T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        # with T.sblock("root"):
        for i0, i1, i2, i3, k in T.grid(T.int64(1), T.int64(4), T.int64(32), past + T.int64(32), T.int64(16)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_i3, v_k = T.axis.remap("SSSSR", [i0, i1, i2, i3, k])
                T.reads(permute_dims3[v_i0, v_i1, v_i2, v_k], permute_dims4[v_i0, v_i1, v_k, v_i3])
                T.writes(matmul[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    matmul[v_i0, v_i1, v_i2, v_i3] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2, v_i3] = matmul[v_i0, v_i1, v_i2, v_i3] + permute_dims3[v_i0, v_i1, v_i2, v_k] * permute_dims4[v_i0, v_i1, v_k, v_i3]

    @T.prim_func(private=True, s_tir=True)
    def matmul2(var_softmax: T.handle, var_permute_dims5: T.handle, matmul: T.Buffer((T.int64(1), T.int64(4), T.int64(32), T.int64(16)), "float32"), past: T.int64):
        T.func_attr({"tirx.noalias": True})
        softmax = T.match_buffer(var_softmax, (T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        permute_dims5 = T.match_buffer(var_permute_dims5, (T.int64(1), T.int64(4), past + T.int64(32), T.int64(16)))
        # with T.sblock("root"):
        for i0, i1, i2, i3, k in T.grid(T.int64(1), T.int64(4), T.int64(32), T.int64(16), past + T.int64(32)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_i3, v_k = T.axis.remap("SSSSR", [i0, i1, i2, i3, k])
                T.reads(softmax[v_i0, v_i1, v_i2, v_k], permute_dims5[v_i0, v_i1, v_k, v_i3])
                T.writes(matmul[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    matmul[v_i0, v_i1, v_i2, v_i3] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2, v_i3] = matmul[v_i0, v_i1, v_i2, v_i3] + softmax[v_i0, v_i1, v_i2, v_k] * permute_dims5[v_i0, v_i1, v_k, v_i3]

    @T.prim_func(private=True, s_tir=True)
    def matmul3(rms_norm1: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32"), permute_dims8: T.Buffer((T.int64(64), T.int64(128)), "float32"), matmul: T.Buffer((T.int64(1), T.int64(32), T.int64(128)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(32), T.int64(128), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(rms_norm1[v_i0, v_i1, v_k], permute_dims8[v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + rms_norm1[v_i0, v_i1, v_k] * permute_dims8[v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def matmul4(mul5: T.Buffer((T.int64(1), T.int64(32), T.int64(128)), "float32"), permute_dims10: T.Buffer((T.int64(128), T.int64(64)), "float32"), matmul: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(32), T.int64(64), T.int64(128)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(mul5[v_i0, v_i1, v_k], permute_dims10[v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + mul5[v_i0, v_i1, v_k] * permute_dims10[v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def multiply(reshape: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32"), cosines: T.Buffer((T.int64(1), T.int64(32), T.int64(1), T.int64(16)), "float32"), T_multiply: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(4), T.int64(16)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(reshape[v_ax0, v_ax1, v_ax2, v_ax3], cosines[v_ax0, v_ax1, T.int64(0), v_ax3])
                T.writes(T_multiply[v_ax0, v_ax1, v_ax2, v_ax3])
                T_multiply[v_ax0, v_ax1, v_ax2, v_ax3] = reshape[v_ax0, v_ax1, v_ax2, v_ax3] * cosines[v_ax0, v_ax1, T.int64(0), v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def multiply1(var_matmul3: T.handle, var_T_multiply: T.handle, past: T.int64):
        T.func_attr({"tirx.noalias": True})
        matmul3 = T.match_buffer(var_matmul3, (T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        T_multiply = T.match_buffer(var_T_multiply, (T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(matmul3[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_multiply[v_ax0, v_ax1, v_ax2, v_ax3])
                T_multiply[v_ax0, v_ax1, v_ax2, v_ax3] = matmul3[v_ax0, v_ax1, v_ax2, v_ax3] * T.float32(0.25)

    @T.prim_func(private=True, s_tir=True)
    def multiply2(silu: T.Buffer((T.int64(1), T.int64(32), T.int64(128)), "float32"), matmul7: T.Buffer((T.int64(1), T.int64(32), T.int64(128)), "float32"), T_multiply: T.Buffer((T.int64(1), T.int64(32), T.int64(128)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(32), T.int64(128)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(silu[v_ax0, v_ax1, v_ax2], matmul7[v_ax0, v_ax1, v_ax2])
                T.writes(T_multiply[v_ax0, v_ax1, v_ax2])
                T_multiply[v_ax0, v_ax1, v_ax2] = silu[v_ax0, v_ax1, v_ax2] * matmul7[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def reshape(matmul: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32"), T_reshape: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(4), T.int64(16)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(matmul[T.int64(0), ((v_ax2 * T.int64(16) + v_ax3) // T.int64(64) + v_ax1) % T.int64(32), (v_ax2 * T.int64(16) + v_ax3) % T.int64(64)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2, v_ax3])
                T_reshape[v_ax0, v_ax1, v_ax2, v_ax3] = matmul[T.int64(0), ((v_ax2 * T.int64(16) + v_ax3) // T.int64(64) + v_ax1) % T.int64(32), (v_ax2 * T.int64(16) + v_ax3) % T.int64(64)]

    @T.prim_func(private=True, s_tir=True)
    def reshape1(permute_dims6: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32"), T_reshape: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(32), T.int64(64)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(permute_dims6[T.int64(0), (v_ax2 // T.int64(64) + v_ax1) % T.int64(32), v_ax2 % T.int64(64) // T.int64(16), v_ax2 % T.int64(16)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2])
                T_reshape[v_ax0, v_ax1, v_ax2] = permute_dims6[T.int64(0), (v_ax2 // T.int64(64) + v_ax1) % T.int64(32), v_ax2 % T.int64(64) // T.int64(16), v_ax2 % T.int64(16)]

    @T.prim_func(private=True, s_tir=True)
    def rms_norm(x: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32"), attention_norm_weight: T.Buffer((T.int64(64),), "float32"), T_cast: T.Buffer((T.int64(1), T.int64(32), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_cast_1 = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(64)))
        T_multiply = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(64)))
        T_multiply_red = T.sblock_alloc_buffer((T.int64(1), T.int64(32)))
        rsqrt = T.sblock_alloc_buffer((T.int64(1), T.int64(32)))
        T_cast_2 = T.sblock_alloc_buffer((T.int64(64),))
        T_rms_norm = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(64)))
        for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(32), T.int64(64)):
            with T.sblock("T_cast"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(x[v_ax0, v_ax1, v_ax2])
                T.writes(T_cast_1[v_ax0, v_ax1, v_ax2])
                T_cast_1[v_ax0, v_ax1, v_ax2] = x[v_ax0, v_ax1, v_ax2]
        for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(32), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(T_cast_1[v_ax0, v_ax1, v_ax2])
                T.writes(T_multiply[v_ax0, v_ax1, v_ax2])
                T_multiply[v_ax0, v_ax1, v_ax2] = T_cast_1[v_ax0, v_ax1, v_ax2] * T_cast_1[v_ax0, v_ax1, v_ax2]
        for ax0, ax1, k2 in T.grid(T.int64(1), T.int64(32), T.int64(64)):
            with T.sblock("T_multiply_red"):
                v_ax0, v_ax1, v_k2 = T.axis.remap("SSR", [ax0, ax1, k2])
                T.reads(T_multiply[v_ax0, v_ax1, v_k2])
                T.writes(T_multiply_red[v_ax0, v_ax1])
                with T.init():
                    T_multiply_red[v_ax0, v_ax1] = T.float32(0.0)
                T_multiply_red[v_ax0, v_ax1] = T_multiply_red[v_ax0, v_ax1] + T_multiply[v_ax0, v_ax1, v_k2]
        for ax0, ax1 in T.grid(T.int64(1), T.int64(32)):
            with T.sblock("rsqrt"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_multiply_red[v_ax0, v_ax1])
                T.writes(rsqrt[v_ax0, v_ax1])
                rsqrt[v_ax0, v_ax1] = T.rsqrt(T_multiply_red[v_ax0, v_ax1] / T.float32(64.0) + T.float32(1.0000000000000001e-05))
        for ax0 in range(T.int64(64)):
            with T.sblock("T_cast_1"):
                v_ax0 = T.axis.spatial(T.int64(64), ax0)
                T.reads(attention_norm_weight[v_ax0])
                T.writes(T_cast_2[v_ax0])
                T_cast_2[v_ax0] = attention_norm_weight[v_ax0]
        for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(32), T.int64(64)):
            with T.sblock("T_rms_norm"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(rsqrt[v_ax0, v_ax1], T_cast_1[v_ax0, v_ax1, v_ax2], T_cast_2[v_ax2])
                T.writes(T_rms_norm[v_ax0, v_ax1, v_ax2])
                T_rms_norm[v_ax0, v_ax1, v_ax2] = rsqrt[v_ax0, v_ax1] * T_cast_1[v_ax0, v_ax1, v_ax2] * T_cast_2[v_ax2]
        for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(32), T.int64(64)):
            with T.sblock("T_cast_2"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(T_rms_norm[v_ax0, v_ax1, v_ax2])
                T.writes(T_cast[v_ax0, v_ax1, v_ax2])
                T_cast[v_ax0, v_ax1, v_ax2] = T_rms_norm[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def silu(matmul6: T.Buffer((T.int64(1), T.int64(32), T.int64(128)), "float32"), T_multiply: T.Buffer((T.int64(1), T.int64(32), T.int64(128)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        compute = T.sblock_alloc_buffer((T.int64(1), T.int64(32), T.int64(128)))
        for i0, i1, i2 in T.grid(T.int64(1), T.int64(32), T.int64(128)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(matmul6[v_i0, v_i1, v_i2])
                T.writes(compute[v_i0, v_i1, v_i2])
                compute[v_i0, v_i1, v_i2] = T.sigmoid(matmul6[v_i0, v_i1, v_i2])
        for ax0, ax1, ax2 in T.grid(T.int64(1), T.int64(32), T.int64(128)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(matmul6[v_ax0, v_ax1, v_ax2], compute[v_ax0, v_ax1, v_ax2])
                T.writes(T_multiply[v_ax0, v_ax1, v_ax2])
                T_multiply[v_ax0, v_ax1, v_ax2] = matmul6[v_ax0, v_ax1, v_ax2] * compute[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def softmax(var_add2: T.handle, var_T_softmax_norm: T.handle, past: T.int64):
        T.func_attr({"tirx.noalias": True})
        add2 = T.match_buffer(var_add2, (T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        T_softmax_norm = T.match_buffer(var_T_softmax_norm, (T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((T.int64(1), T.int64(4), T.int64(32)))
        T_softmax_exp = T.sblock_alloc_buffer((T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)))
        T_softmax_expsum = T.sblock_alloc_buffer((T.int64(1), T.int64(4), T.int64(32)))
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(add2[v_i0, v_i1, v_i2, v_k])
                T.writes(T_softmax_maxelem[v_i0, v_i1, v_i2])
                with T.init():
                    T_softmax_maxelem[v_i0, v_i1, v_i2] = T.float32(-340282346638528859811704183484516925440.0)
                T_softmax_maxelem[v_i0, v_i1, v_i2] = T.max(T_softmax_maxelem[v_i0, v_i1, v_i2], add2[v_i0, v_i1, v_i2, v_k])
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)):
            with T.sblock("T_softmax_exp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(add2[v_i0, v_i1, v_i2, v_i3], T_softmax_maxelem[v_i0, v_i1, v_i2])
                T.writes(T_softmax_exp[v_i0, v_i1, v_i2, v_i3])
                T_softmax_exp[v_i0, v_i1, v_i2, v_i3] = T.exp(add2[v_i0, v_i1, v_i2, v_i3] - T_softmax_maxelem[v_i0, v_i1, v_i2])
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(T_softmax_exp[v_i0, v_i1, v_i2, v_k])
                T.writes(T_softmax_expsum[v_i0, v_i1, v_i2])
                with T.init():
                    T_softmax_expsum[v_i0, v_i1, v_i2] = T.float32(0.0)
                T_softmax_expsum[v_i0, v_i1, v_i2] = T_softmax_expsum[v_i0, v_i1, v_i2] + T_softmax_exp[v_i0, v_i1, v_i2, v_k]
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), T.int64(32), past + T.int64(32)):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(T_softmax_exp[v_i0, v_i1, v_i2, v_i3], T_softmax_expsum[v_i0, v_i1, v_i2])
                T.writes(T_softmax_norm[v_i0, v_i1, v_i2, v_i3])
                T.sblock_attr({"axis": 3})
                T_softmax_norm[v_i0, v_i1, v_i2, v_i3] = T_softmax_exp[v_i0, v_i1, v_i2, v_i3] / T_softmax_expsum[v_i0, v_i1, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def split(reshape: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32"), T_split_sections: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(8)), "float32"), T_split_sections_1: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(4), T.int64(8)):
            with T.sblock("T_split_sections"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(reshape[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_split_sections[v_ax0, v_ax1, v_ax2, v_ax3])
                T_split_sections[v_ax0, v_ax1, v_ax2, v_ax3] = reshape[v_ax0, v_ax1, v_ax2, v_ax3]
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(4), T.int64(8)):
            with T.sblock("T_split_sections_1"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(reshape[v_ax0, v_ax1, v_ax2, v_ax3 + T.int64(8)])
                T.writes(T_split_sections_1[v_ax0, v_ax1, v_ax2, v_ax3])
                T_split_sections_1[v_ax0, v_ax1, v_ax2, v_ax3] = reshape[v_ax0, v_ax1, v_ax2, v_ax3 + T.int64(8)]

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(split_1: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(32), T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(split_1[v_i0, v_i1, v_i2, v_i3])
                T.writes(compute[v_i0, v_i1, v_i2, v_i3])
                compute[v_i0, v_i1, v_i2, v_i3] = split_1[v_i0, v_i1, v_i2, v_i3] * T.float32(-1.0)

    @T.prim_func(private=True, s_tir=True)
    def transpose(query_weight: T.Buffer((T.int64(64), T.int64(64)), "float32"), T_transpose: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(query_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = query_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(add: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(1), T.int64(4), T.int64(32), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(32), T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(add[v_ax0, v_ax2, v_ax1, v_ax3])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = add[v_ax0, v_ax2, v_ax1, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def transpose2(var_concat3: T.handle, var_T_transpose: T.handle, past: T.int64):
        T.func_attr({"tirx.noalias": True})
        concat3 = T.match_buffer(var_concat3, (T.int64(1), past + T.int64(32), T.int64(4), T.int64(16)))
        T_transpose = T.match_buffer(var_T_transpose, (T.int64(1), T.int64(4), T.int64(16), past + T.int64(32)))
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(16), past + T.int64(32)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(concat3[v_ax0, v_ax3, v_ax1, v_ax2])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = concat3[v_ax0, v_ax3, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def transpose3(var_concat4: T.handle, var_T_transpose: T.handle, past: T.int64):
        T.func_attr({"tirx.noalias": True})
        concat4 = T.match_buffer(var_concat4, (T.int64(1), past + T.int64(32), T.int64(4), T.int64(16)))
        T_transpose = T.match_buffer(var_T_transpose, (T.int64(1), T.int64(4), past + T.int64(32), T.int64(16)))
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), past + T.int64(32), T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(concat4[v_ax0, v_ax2, v_ax1, v_ax3])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = concat4[v_ax0, v_ax2, v_ax1, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def transpose4(matmul4: T.Buffer((T.int64(1), T.int64(4), T.int64(32), T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(1), T.int64(32), T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(4), T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(matmul4[v_ax0, v_ax2, v_ax1, v_ax3])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = matmul4[v_ax0, v_ax2, v_ax1, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def transpose5(gate_weight: T.Buffer((T.int64(128), T.int64(64)), "float32"), T_transpose: T.Buffer((T.int64(64), T.int64(128)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(gate_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = gate_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose6(down_weight: T.Buffer((T.int64(64), T.int64(128)), "float32"), T_transpose: T.Buffer((T.int64(128), T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(128), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(down_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = down_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def triu(full: T.Buffer((T.int64(1), T.int64(1), T.int64(32), T.int64(32)), "float32"), trilu: T.Buffer((T.int64(1), T.int64(1), T.int64(32), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(1), T.int64(32), T.int64(32)):
            with T.sblock("trilu"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(full[v_i0, v_i1, v_i2, v_i3])
                T.writes(trilu[v_i0, v_i1, v_i2, v_i3])
                trilu[v_i0, v_i1, v_i2, v_i3] = T.Select(v_i2 < v_i3, full[v_i0, v_i1, v_i2, v_i3], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def zeros(var_T_full: T.handle):
        T.func_attr({"tirx.noalias": True})
        past = T.int64()
        T_full = T.match_buffer(var_T_full, (T.int64(1), T.int64(1), T.int64(32), past))
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(1), T.int64(32), past):
            with T.sblock("T_full"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads()
                T.writes(T_full[v_ax0, v_ax1, v_ax2, v_ax3])
                T_full[v_ax0, v_ax1, v_ax2, v_ax3] = T.float32(0.0)

    @R.function
    def forward(x: R.Tensor((1, 32, 64), dtype="float32"), keys: R.Tensor((1, "past", 4, 16), dtype="float32"), values: R.Tensor((1, "past", 4, 16), dtype="float32"), cosines: R.Tensor((1, 32, 1, 16), dtype="float32"), sines: R.Tensor((1, 32, 1, 16), dtype="float32"), attention_norm_weight: R.Tensor((64,), dtype="float32"), query_weight: R.Tensor((64, 64), dtype="float32"), key_weight: R.Tensor((64, 64), dtype="float32"), value_weight: R.Tensor((64, 64), dtype="float32"), out_weight: R.Tensor((64, 64), dtype="float32"), feed_norm_weight: R.Tensor((64,), dtype="float32"), gate_weight: R.Tensor((128, 64), dtype="float32"), up_weight: R.Tensor((128, 64), dtype="float32"), down_weight: R.Tensor((64, 128), dtype="float32")) -> R.Tuple(R.Tensor((1, 32, 64), dtype="float32"), R.Tensor((1, "past + 32", 4, 16), dtype="float32"), R.Tensor((1, "past + 32", 4, 16), dtype="float32")):
        past = T.int64()
        R.func_attr({"num_input": 5})
        cls = Module
        with R.dataflow():
            full = R.call_tir(cls.full, R.tuple(), out_sinfo=R.Tensor((1, 1, 32, 32), dtype="float32"))
            triu = R.call_tir(cls.triu, (full,), out_sinfo=R.Tensor((1, 1, 32, 32), dtype="float32"))
            zeros = R.call_tir(cls.zeros, R.tuple(), out_sinfo=R.Tensor((1, 1, 32, past), dtype="float32"))
            concat = R.call_tir(cls.concatenate, (zeros, triu), out_sinfo=R.Tensor((1, 1, 32, past + 32), dtype="float32"))
            rms_norm = R.call_tir(cls.rms_norm, (x, attention_norm_weight), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            permute_dims = R.call_tir(cls.transpose, (query_weight,), out_sinfo=R.Tensor((64, 64), dtype="float32"))
            matmul = R.call_tir(cls.matmul, (rms_norm, permute_dims), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            reshape = R.call_tir(cls.reshape, (matmul,), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            split = R.call_tir(cls.split, (reshape,), out_sinfo=[R.Tensor((1, 32, 4, 8), dtype="float32"), R.Tensor((1, 32, 4, 8), dtype="float32")])
            split_0: R.Tensor((1, 32, 4, 8), dtype="float32") = split[0]
            split_1: R.Tensor((1, 32, 4, 8), dtype="float32") = split[1]
            mul = R.call_tir(cls.multiply, (reshape, cosines), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            neg = R.call_tir(cls.tir_negative, (split_1,), out_sinfo=R.Tensor((1, 32, 4, 8), dtype="float32"))
            concat1 = R.call_tir(cls.concatenate1, (neg, split_0), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            mul1 = R.call_tir(cls.multiply, (concat1, sines), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            add = R.call_tir(cls.add, (mul, mul1), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            permute_dims1 = R.call_tir(cls.transpose, (key_weight,), out_sinfo=R.Tensor((64, 64), dtype="float32"))
            matmul1 = R.call_tir(cls.matmul, (rms_norm, permute_dims1), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            reshape1 = R.call_tir(cls.reshape, (matmul1,), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            split1 = R.call_tir(cls.split, (reshape1,), out_sinfo=[R.Tensor((1, 32, 4, 8), dtype="float32"), R.Tensor((1, 32, 4, 8), dtype="float32")])
            split_01: R.Tensor((1, 32, 4, 8), dtype="float32") = split1[0]
            split_11: R.Tensor((1, 32, 4, 8), dtype="float32") = split1[1]
            mul2 = R.call_tir(cls.multiply, (reshape1, cosines), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            neg1 = R.call_tir(cls.tir_negative, (split_11,), out_sinfo=R.Tensor((1, 32, 4, 8), dtype="float32"))
            concat2 = R.call_tir(cls.concatenate1, (neg1, split_01), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            mul3 = R.call_tir(cls.multiply, (concat2, sines), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            add1 = R.call_tir(cls.add, (mul2, mul3), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            concat3 = R.call_tir(cls.concatenate2, (keys, add1), out_sinfo=R.Tensor((1, past + 32, 4, 16), dtype="float32"))
            permute_dims2 = R.call_tir(cls.transpose, (value_weight,), out_sinfo=R.Tensor((64, 64), dtype="float32"))
            matmul2 = R.call_tir(cls.matmul, (rms_norm, permute_dims2), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            reshape2 = R.call_tir(cls.reshape, (matmul2,), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            concat4 = R.call_tir(cls.concatenate2, (values, reshape2), out_sinfo=R.Tensor((1, past + 32, 4, 16), dtype="float32"))
            permute_dims3 = R.call_tir(cls.transpose1, (add,), out_sinfo=R.Tensor((1, 4, 32, 16), dtype="float32"))
            permute_dims4 = R.call_tir(cls.transpose2, (concat3,), out_sinfo=R.Tensor((1, 4, 16, past + 32), dtype="float32"), tir_vars=R.shape([past]))
            matmul3 = R.call_tir(cls.matmul1, (permute_dims3, permute_dims4), out_sinfo=R.Tensor((1, 4, 32, past + 32), dtype="float32"), tir_vars=R.shape([past]))
            mul4 = R.call_tir(cls.multiply1, (matmul3,), out_sinfo=R.Tensor((1, 4, 32, past + 32), dtype="float32"), tir_vars=R.shape([past]))
            add2 = R.call_tir(cls.add1, (mul4, concat), out_sinfo=R.Tensor((1, 4, 32, past + 32), dtype="float32"), tir_vars=R.shape([past]))
            softmax = R.call_tir(cls.softmax, (add2,), out_sinfo=R.Tensor((1, 4, 32, past + 32), dtype="float32"), tir_vars=R.shape([past]))
            permute_dims5 = R.call_tir(cls.transpose3, (concat4,), out_sinfo=R.Tensor((1, 4, past + 32, 16), dtype="float32"), tir_vars=R.shape([past]))
            matmul4 = R.call_tir(cls.matmul2, (softmax, permute_dims5), out_sinfo=R.Tensor((1, 4, 32, 16), dtype="float32"), tir_vars=R.shape([past]))
            permute_dims6 = R.call_tir(cls.transpose4, (matmul4,), out_sinfo=R.Tensor((1, 32, 4, 16), dtype="float32"))
            reshape3 = R.call_tir(cls.reshape1, (permute_dims6,), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            permute_dims7 = R.call_tir(cls.transpose, (out_weight,), out_sinfo=R.Tensor((64, 64), dtype="float32"))
            matmul5 = R.call_tir(cls.matmul, (reshape3, permute_dims7), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            add3 = R.call_tir(cls.add2, (x, matmul5), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            rms_norm1 = R.call_tir(cls.rms_norm, (add3, feed_norm_weight), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            permute_dims8 = R.call_tir(cls.transpose5, (gate_weight,), out_sinfo=R.Tensor((64, 128), dtype="float32"))
            matmul6 = R.call_tir(cls.matmul3, (rms_norm1, permute_dims8), out_sinfo=R.Tensor((1, 32, 128), dtype="float32"))
            silu = R.call_tir(cls.silu, (matmul6,), out_sinfo=R.Tensor((1, 32, 128), dtype="float32"))
            permute_dims9 = R.call_tir(cls.transpose5, (up_weight,), out_sinfo=R.Tensor((64, 128), dtype="float32"))
            matmul7 = R.call_tir(cls.matmul3, (rms_norm1, permute_dims9), out_sinfo=R.Tensor((1, 32, 128), dtype="float32"))
            mul5 = R.call_tir(cls.multiply2, (silu, matmul7), out_sinfo=R.Tensor((1, 32, 128), dtype="float32"))
            permute_dims10 = R.call_tir(cls.transpose6, (down_weight,), out_sinfo=R.Tensor((128, 64), dtype="float32"))
            matmul8 = R.call_tir(cls.matmul4, (mul5, permute_dims10), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            add4 = R.call_tir(cls.add2, (add3, matmul8), out_sinfo=R.Tensor((1, 32, 64), dtype="float32"))
            gv: R.Tuple(R.Tensor((1, 32, 64), dtype="float32"), R.Tensor((1, past + 32, 4, 16), dtype="float32"), R.Tensor((1, past + 32, 4, 16), dtype="float32")) = add4, concat3, concat4
            R.output(gv)
        return gv
