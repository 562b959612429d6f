# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(var_matmul: T.handle, up_bias: T.Buffer((T.int64(32),), "float32"), var_T_add: T.handle):
        T.func_attr({"tirx.noalias": True})
        batch = T.int64()
        matmul = T.match_buffer(var_matmul, (batch, T.int64(32)))
        T_add = T.match_buffer(var_T_add, (batch, T.int64(32)))
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(batch, T.int64(32)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(matmul[v_ax0, v_ax1], up_bias[v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = matmul[v_ax0, v_ax1] + up_bias[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def add1(var_matmul1: T.handle, down_bias: T.Buffer((T.int64(8),), "float32"), var_T_add: T.handle):
        T.func_attr({"tirx.noalias": True})
        batch = T.int64()
        matmul1 = T.match_buffer(var_matmul1, (batch, T.int64(8)))
        T_add = T.match_buffer(var_T_add, (batch, T.int64(8)))
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(batch, T.int64(8)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(matmul1[v_ax0, v_ax1], down_bias[v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = matmul1[v_ax0, v_ax1] + down_bias[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def matmul(var_x: T.handle, permute_dims: T.Buffer((T.int64(16), T.int64(32)), "float32"), var_matmul: T.handle):
        T.func_attr({"tirx.noalias": True})
        batch = T.int64()
        x = T.match_buffer(var_x, (batch, T.int64(16)))
        matmul = T.match_buffer(var_matmul, (batch, T.int64(32)))
        # with T.sblock("root"):
        for i0, i1, k in T.grid(batch, T.int64(32), T.int64(16)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], permute_dims[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x[v_i0, v_k] * permute_dims[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(var_relu: T.handle, permute_dims1: T.Buffer((T.int64(32), T.int64(8)), "float32"), var_matmul: T.handle):
        T.func_attr({"tirx.noalias": True})
        batch = T.int64()
        relu = T.match_buffer(var_relu, (batch, T.int64(32)))
        matmul = T.match_buffer(var_matmul, (batch, T.int64(8)))
        # with T.sblock("root"):
        for i0, i1, k in T.grid(batch, T.int64(8), T.int64(32)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(relu[v_i0, v_k], permute_dims1[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + relu[v_i0, v_k] * permute_dims1[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def relu(var_add: T.handle, var_compute: T.handle):
        T.func_attr({"tirx.noalias": True})
        batch = T.int64()
        add = T.match_buffer(var_add, (batch, T.int64(32)))
        compute = T.match_buffer(var_compute, (batch, T.int64(32)))
        # with T.sblock("root"):
        for i0, i1 in T.grid(batch, T.int64(32)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(add[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(add[v_i0, v_i1], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def transpose(up_weight: T.Buffer((T.int64(32), T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(16), T.int64(32)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(16), T.int64(32)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(up_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = up_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(down_weight: T.Buffer((T.int64(8), T.int64(32)), "float32"), T_transpose: T.Buffer((T.int64(32), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(32), T.int64(8)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(down_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = down_weight[v_ax1, v_ax0]

    @R.function
    def forward(x: R.Tensor(("batch", 16), dtype="float32"), up_weight: R.Tensor((32, 16), dtype="float32"), up_bias: R.Tensor((32,), dtype="float32"), down_weight: R.Tensor((8, 32), dtype="float32"), down_bias: R.Tensor((8,), dtype="float32")) -> R.Tensor(("batch", 8), dtype="float32"):
        batch = T.int64()
        R.func_attr({"num_input": 1})
        cls = Module
        with R.dataflow():
            permute_dims = R.call_tir(cls.transpose, (up_weight,), out_sinfo=R.Tensor((16, 32), dtype="float32"))
            matmul = R.call_tir(cls.matmul, (x, permute_dims), out_sinfo=R.Tensor((batch, 32), dtype="float32"))
            add = R.call_tir(cls.add, (matmul, up_bias), out_sinfo=R.Tensor((batch, 32), dtype="float32"))
            relu = R.call_tir(cls.relu, (add,), out_sinfo=R.Tensor((batch, 32), dtype="float32"))
            permute_dims1 = R.call_tir(cls.transpose1, (down_weight,), out_sinfo=R.Tensor((32, 8), dtype="float32"))
            matmul1 = R.call_tir(cls.matmul1, (relu, permute_dims1), out_sinfo=R.Tensor((batch, 8), dtype="float32"))
            add1 = R.call_tir(cls.add1, (matmul1, down_bias), out_sinfo=R.Tensor((batch, 8), dtype="float32"))
            gv: R.Tensor((batch, 8), dtype="float32") = add1
            R.output(gv)
        return gv
