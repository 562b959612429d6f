# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(var_mul1: T.handle, var_mul2: T.handle, var_T_add: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        mul1 = T.match_buffer(var_mul1, (tokens, T.int64(16)))
        mul2 = T.match_buffer(var_mul2, (tokens, T.int64(16)))
        T_add = T.match_buffer(var_T_add, (tokens, T.int64(16)))
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(tokens, T.int64(16)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(mul1[v_ax0, v_ax1], mul2[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = mul1[v_ax0, v_ax1] + mul2[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def cast(var_greater_equal: T.handle, var_compute: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        greater_equal = T.match_buffer(var_greater_equal, (tokens, T.int64(4)), "bool")
        compute = T.match_buffer(var_compute, (tokens, T.int64(4)))
        # with T.sblock("root"):
        for i0, i1 in T.grid(tokens, T.int64(4)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(greater_equal[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.Cast("float32", greater_equal[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def greater_equal(var_softmax: T.handle, var_max: T.handle, var_T_greater_equal: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        softmax = T.match_buffer(var_softmax, (tokens, T.int64(4)))
        max = T.match_buffer(var_max, (tokens, T.int64(1)))
        T_greater_equal = T.match_buffer(var_T_greater_equal, (tokens, T.int64(4)), "bool")
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(tokens, T.int64(4)):
            with T.sblock("T_greater_equal"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(max[v_ax0, T.int64(0)], softmax[v_ax0, v_ax1])
                T.writes(T_greater_equal[v_ax0, v_ax1])
                T_greater_equal[v_ax0, v_ax1] = max[v_ax0, T.int64(0)] <= softmax[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def matmul(var_x: T.handle, permute_dims: T.Buffer((T.int64(16), T.int64(4)), "float32"), var_matmul: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        x = T.match_buffer(var_x, (tokens, T.int64(16)))
        matmul = T.match_buffer(var_matmul, (tokens, T.int64(4)))
        # with T.sblock("root"):
        for i0, i1, k in T.grid(tokens, T.int64(4), T.int64(16)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], permute_dims[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x[v_i0, v_k] * permute_dims[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(var_x: T.handle, permute_dims1: T.Buffer((T.int64(16), T.int64(32)), "float32"), var_matmul: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        x = T.match_buffer(var_x, (tokens, T.int64(16)))
        matmul = T.match_buffer(var_matmul, (tokens, T.int64(32)))
        # with T.sblock("root"):
        for i0, i1, k in T.grid(tokens, T.int64(32), T.int64(16)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], permute_dims1[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x[v_i0, v_k] * permute_dims1[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def matmul2(var_relu: T.handle, permute_dims2: T.Buffer((T.int64(32), T.int64(16)), "float32"), var_matmul: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        relu = T.match_buffer(var_relu, (tokens, T.int64(32)))
        matmul = T.match_buffer(var_matmul, (tokens, T.int64(16)))
        # with T.sblock("root"):
        for i0, i1, k in T.grid(tokens, T.int64(16), T.int64(32)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(relu[v_i0, v_k], permute_dims2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + relu[v_i0, v_k] * permute_dims2[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def max(var_softmax: T.handle, var_softmax_red: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        softmax = T.match_buffer(var_softmax, (tokens, T.int64(4)))
        softmax_red = T.match_buffer(var_softmax_red, (tokens, T.int64(1)))
        # with T.sblock("root"):
        for ax0, ax1, k1 in T.grid(tokens, T.int64(1), T.int64(4)):
            with T.sblock("softmax_red"):
                v_ax0, v_ax1, v_k1 = T.axis.remap("SSR", [ax0, ax1, k1])
                T.reads(softmax[v_ax0, v_k1])
                T.writes(softmax_red[v_ax0, v_ax1])
                with T.init():
                    softmax_red[v_ax0, v_ax1] = T.float32(-340282346638528859811704183484516925440.0)
                softmax_red[v_ax0, v_ax1] = T.max(softmax_red[v_ax0, v_ax1], softmax[v_ax0, v_k1])

    @T.prim_func(private=True, s_tir=True)
    def multiply(var_softmax: T.handle, var_astype: T.handle, var_T_multiply: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        softmax = T.match_buffer(var_softmax, (tokens, T.int64(4)))
        astype = T.match_buffer(var_astype, (tokens, T.int64(4)))
        T_multiply = T.match_buffer(var_T_multiply, (tokens, T.int64(4)))
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(tokens, T.int64(4)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(softmax[v_ax0, v_ax1], astype[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = softmax[v_ax0, v_ax1] * astype[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def multiply1(var_split_0: T.handle, var_matmul2: T.handle, var_T_multiply: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        split_0 = T.match_buffer(var_split_0, (tokens, T.int64(1)))
        matmul2 = T.match_buffer(var_matmul2, (tokens, T.int64(16)))
        T_multiply = T.match_buffer(var_T_multiply, (tokens, T.int64(16)))
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(tokens, T.int64(16)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(split_0[v_ax0, T.int64(0)], matmul2[v_ax0, v_ax1])
                T.writes(T_multiply[v_ax0, v_ax1])
                T_multiply[v_ax0, v_ax1] = split_0[v_ax0, T.int64(0)] * matmul2[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def relu(var_matmul1: T.handle, var_compute: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        matmul1 = T.match_buffer(var_matmul1, (tokens, T.int64(32)))
        compute = T.match_buffer(var_compute, (tokens, T.int64(32)))
        # with T.sblock("root"):
        for i0, i1 in T.grid(tokens, T.int64(32)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(matmul1[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(matmul1[v_i0, v_i1], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def softmax(var_matmul: T.handle, var_T_softmax_norm: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        matmul = T.match_buffer(var_matmul, (tokens, T.int64(4)))
        T_softmax_norm = T.match_buffer(var_T_softmax_norm, (tokens, T.int64(4)))
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((tokens,))
        T_softmax_exp = T.sblock_alloc_buffer((tokens, T.int64(4)))
        T_softmax_expsum = T.sblock_alloc_buffer((tokens,))
        for i0, k in T.grid(tokens, T.int64(4)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(matmul[v_i0, v_k])
                T.writes(T_softmax_maxelem[v_i0])
                with T.init():
                    T_softmax_maxelem[v_i0] = T.float32(-340282346638528859811704183484516925440.0)
                T_softmax_maxelem[v_i0] = T.max(T_softmax_maxelem[v_i0], matmul[v_i0, v_k])
        for i0, i1 in T.grid(tokens, T.int64(4)):
            with T.sblock("T_softmax_exp"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(matmul[v_i0, v_i1], T_softmax_maxelem[v_i0])
                T.writes(T_softmax_exp[v_i0, v_i1])
                T_softmax_exp[v_i0, v_i1] = T.exp(matmul[v_i0, v_i1] - T_softmax_maxelem[v_i0])
        for i0, k in T.grid(tokens, T.int64(4)):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(T_softmax_exp[v_i0, v_k])
                T.writes(T_softmax_expsum[v_i0])
                with T.init():
                    T_softmax_expsum[v_i0] = T.float32(0.0)
                T_softmax_expsum[v_i0] = T_softmax_expsum[v_i0] + T_softmax_exp[v_i0, v_k]
        for i0, i1 in T.grid(tokens, T.int64(4)):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(T_softmax_exp[v_i0, v_i1], T_softmax_expsum[v_i0])
                T.writes(T_softmax_norm[v_i0, v_i1])
                T.sblock_attr({"axis": 1})
                T_softmax_norm[v_i0, v_i1] = T_softmax_exp[v_i0, v_i1] / T_softmax_expsum[v_i0]

    @T.prim_func(private=True, s_tir=True)
    def split(var_mul: T.handle, var_T_split_sections: T.handle, var_T_split_sections_1: T.handle, var_T_split_sections_2: T.handle, var_T_split_sections_3: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        mul = T.match_buffer(var_mul, (tokens, T.int64(4)))
        T_split_sections = T.match_buffer(var_T_split_sections, (tokens, T.int64(1)))
        T_split_sections_1 = T.match_buffer(var_T_split_sections_1, (tokens, T.int64(1)))
        T_split_sections_2 = T.match_buffer(var_T_split_sections_2, (tokens, T.int64(1)))
        T_split_sections_3 = T.match_buffer(var_T_split_sections_3, (tokens, T.int64(1)))
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(tokens, T.int64(1)):
            with T.sblock("T_split_sections"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(mul[v_ax0, v_ax1])
                T.writes(T_split_sections[v_ax0, v_ax1])
                T_split_sections[v_ax0, v_ax1] = mul[v_ax0, v_ax1]
        for ax0, ax1 in T.grid(tokens, T.int64(1)):
            with T.sblock("T_split_sections_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(mul[v_ax0, v_ax1 + T.int64(1)])
                T.writes(T_split_sections_1[v_ax0, v_ax1])
                T_split_sections_1[v_ax0, v_ax1] = mul[v_ax0, v_ax1 + T.int64(1)]
        for ax0, ax1 in T.grid(tokens, T.int64(1)):
            with T.sblock("T_split_sections_2"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(mul[v_ax0, v_ax1 + T.int64(2)])
                T.writes(T_split_sections_2[v_ax0, v_ax1])
                T_split_sections_2[v_ax0, v_ax1] = mul[v_ax0, v_ax1 + T.int64(2)]
        for ax0, ax1 in T.grid(tokens, T.int64(1)):
            with T.sblock("T_split_sections_3"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(mul[v_ax0, v_ax1 + T.int64(3)])
                T.writes(T_split_sections_3[v_ax0, v_ax1])
                T_split_sections_3[v_ax0, v_ax1] = mul[v_ax0, v_ax1 + T.int64(3)]

    @T.prim_func(private=True, s_tir=True)
    def transpose(router_weight: T.Buffer((T.int64(4), T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(16), T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(4)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(router_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = router_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(up_0_weight: T.Buffer((T.int64(32), T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(up_0_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = up_0_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose2(down_0_weight: T.Buffer((T.int64(16), T.int64(32)), "float32"), T_transpose: T.Buffer((T.int64(32), T.int64(16)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(32), T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(down_0_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = down_0_weight[v_ax1, v_ax0]

    @R.function
    def forward(x: R.Tensor(("tokens", 16), dtype="float32"), router_weight: R.Tensor((4, 16), dtype="float32"), up_0_weight: R.Tensor((32, 16), dtype="float32"), up_1_weight: R.Tensor((32, 16), dtype="float32"), up_2_weight: R.Tensor((32, 16), dtype="float32"), up_3_weight: R.Tensor((32, 16), dtype="float32"), down_0_weight: R.Tensor((16, 32), dtype="float32"), down_1_weight: R.Tensor((16, 32), dtype="float32"), down_2_weight: R.Tensor((16, 32), dtype="float32"), down_3_weight: R.Tensor((16, 32), dtype="float32")) -> R.Tensor(("tokens", 16), dtype="float32"):
        tokens = T.int64()
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            permute_dims = R.call_tir(cls.transpose, (router_weight,), out_sinfo=R.Tensor((16, 4), dtype="float32"))
            matmul = R.call_tir(cls.matmul, (x, permute_dims), out_sinfo=R.Tensor((tokens, 4), dtype="float32"))
            softmax = R.call_tir(cls.softmax, (matmul,), out_sinfo=R.Tensor((tokens, 4), dtype="float32"))
            max = R.call_tir(cls.max, (softmax,), out_sinfo=R.Tensor((tokens, 1), dtype="float32"))
            greater_equal = R.call_tir(cls.greater_equal, (softmax, max), out_sinfo=R.Tensor((tokens, 4), dtype="bool"))
            astype = R.call_tir(cls.cast, (greater_equal,), out_sinfo=R.Tensor((tokens, 4), dtype="float32"))
            mul = R.call_tir(cls.multiply, (softmax, astype), out_sinfo=R.Tensor((tokens, 4), dtype="float32"))
            split = R.call_tir(cls.split, (mul,), out_sinfo=[R.Tensor((tokens, 1), dtype="float32"), R.Tensor((tokens, 1), dtype="float32"), R.Tensor((tokens, 1), dtype="float32"), R.Tensor((tokens, 1), dtype="float32")])
            split_0: R.Tensor((tokens, 1), dtype="float32") = split[0]
            split_1: R.Tensor((tokens, 1), dtype="float32") = split[1]
            split_2: R.Tensor((tokens, 1), dtype="float32") = split[2]
            split_3: R.Tensor((tokens, 1), dtype="float32") = split[3]
            permute_dims1 = R.call_tir(cls.transpose1, (up_0_weight,), out_sinfo=R.Tensor((16, 32), dtype="float32"))
            matmul1 = R.call_tir(cls.matmul1, (x, permute_dims1), out_sinfo=R.Tensor((tokens, 32), dtype="float32"))
            relu = R.call_tir(cls.relu, (matmul1,), out_sinfo=R.Tensor((tokens, 32), dtype="float32"))
            permute_dims2 = R.call_tir(cls.transpose2, (down_0_weight,), out_sinfo=R.Tensor((32, 16), dtype="float32"))
            matmul2 = R.call_tir(cls.matmul2, (relu, permute_dims2), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            mul1 = R.call_tir(cls.multiply1, (split_0, matmul2), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            permute_dims3 = R.call_tir(cls.transpose1, (up_1_weight,), out_sinfo=R.Tensor((16, 32), dtype="float32"))
            matmul3 = R.call_tir(cls.matmul1, (x, permute_dims3), out_sinfo=R.Tensor((tokens, 32), dtype="float32"))
            relu1 = R.call_tir(cls.relu, (matmul3,), out_sinfo=R.Tensor((tokens, 32), dtype="float32"))
            permute_dims4 = R.call_tir(cls.transpose2, (down_1_weight,), out_sinfo=R.Tensor((32, 16), dtype="float32"))
            matmul4 = R.call_tir(cls.matmul2, (relu1, permute_dims4), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            mul2 = R.call_tir(cls.multiply1, (split_1, matmul4), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            permute_dims5 = R.call_tir(cls.transpose1, (up_2_weight,), out_sinfo=R.Tensor((16, 32), dtype="float32"))
            matmul5 = R.call_tir(cls.matmul1, (x, permute_dims5), out_sinfo=R.Tensor((tokens, 32), dtype="float32"))
            relu2 = R.call_tir(cls.relu, (matmul5,), out_sinfo=R.Tensor((tokens, 32), dtype="float32"))
            permute_dims6 = R.call_tir(cls.transpose2, (down_2_weight,), out_sinfo=R.Tensor((32, 16), dtype="float32"))
            matmul6 = R.call_tir(cls.matmul2, (relu2, permute_dims6), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            mul3 = R.call_tir(cls.multiply1, (split_2, matmul6), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            permute_dims7 = R.call_tir(cls.transpose1, (up_3_weight,), out_sinfo=R.Tensor((16, 32), dtype="float32"))
            matmul7 = R.call_tir(cls.matmul1, (x, permute_dims7), out_sinfo=R.Tensor((tokens, 32), dtype="float32"))
            relu3 = R.call_tir(cls.relu, (matmul7,), out_sinfo=R.Tensor((tokens, 32), dtype="float32"))
            permute_dims8 = R.call_tir(cls.transpose2, (down_3_weight,), out_sinfo=R.Tensor((32, 16), dtype="float32"))
            matmul8 = R.call_tir(cls.matmul2, (relu3, permute_dims8), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            mul4 = R.call_tir(cls.multiply1, (split_3, matmul8), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            add = R.call_tir(cls.add, (mul1, mul2), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            add1 = R.call_tir(cls.add, (add, mul3), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            add2 = R.call_tir(cls.add, (add1, mul4), out_sinfo=R.Tensor((tokens, 16), dtype="float32"))
            gv: R.Tensor((tokens, 16), dtype="float32") = add2
            R.output(gv)
        return gv
