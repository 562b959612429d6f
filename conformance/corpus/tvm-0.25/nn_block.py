# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def _initialize_effect() -> R.Tuple(R.Object):
        with R.dataflow():
            lv: R.Tensor((8, 2, 8), dtype="float32") = R.zeros(R.shape([8, 2, 8]), dtype="float32")
            cache: R.Object = R.call_pure_packed("vm.builtin.attention_kv_cache_create", lv, R.shape([8, 2, 8]), R.prim_value(0), sinfo_args=(R.Object,))
            lv1: R.Tuple(R.Object) = (cache,)
            gv: R.Tuple(R.Object) = lv1
            R.output(gv)
        return gv

    @R.function
    def forward(x: R.Tensor((1, "s", 16), dtype="float32"), total_1: R.Shape(["total"]), cache: R.Object, qkv_weight: R.Tensor((48, 16), dtype="float32"), qkv_bias: R.Tensor((48,), dtype="float32")) -> R.Tuple(R.Tensor((2, "s", "total"), dtype="float32"), R.Tuple(R.Object)):
        s = T.int64()
        total = T.int64()
        R.func_attr({"num_input": 3})
        with R.dataflow():
            permute_dims: R.Tensor((16, 48), dtype="float32") = R.permute_dims(qkv_weight, axes=None)
            matmul: R.Tensor((1, s, 48), dtype="float32") = R.matmul(x, permute_dims, out_dtype="void")
            add: R.Tensor((1, s, 48), dtype="float32") = R.add(matmul, qkv_bias)
            reshape: R.Tensor((s, 3, 2, 8), dtype="float32") = R.reshape(add, R.shape([s, 3, 2, 8]))
            split: R.Tuple(R.Tensor((s, 1, 2, 8), dtype="float32"), R.Tensor((s, 1, 2, 8), dtype="float32"), R.Tensor((s, 1, 2, 8), dtype="float32")) = R.split(reshape, indices_or_sections=3, axis=1)
            split_0: R.Tensor((s, 1, 2, 8), dtype="float32") = split[0]
            split_1: R.Tensor((s, 1, 2, 8), dtype="float32") = split[1]
            split_2: R.Tensor((s, 1, 2, 8), dtype="float32") = split[2]
            squeeze: R.Tensor((s, 2, 8), dtype="float32") = R.squeeze(split_1, axis=[1])
            lv2: R.Object = R.call_inplace_packed("vm.builtin.attention_kv_cache_append", cache, squeeze, inplace_indices=[0], sinfo_args=(R.Object,))
            lv3: R.Tensor((total, 2, 8), dtype="float32") = R.call_pure_packed("vm.builtin.attention_kv_cache_view", lv2, R.shape([total, 2, 8]), sinfo_args=(R.Tensor((total, 2, 8), dtype="float32"),))
            permute_dims1: R.Tensor((2, 8, total), dtype="float32") = R.permute_dims(lv3, axes=[1, 2, 0])
            squeeze1: R.Tensor((s, 2, 8), dtype="float32") = R.squeeze(split_0, axis=[1])
            permute_dims2: R.Tensor((2, s, 8), dtype="float32") = R.permute_dims(squeeze1, axes=[1, 0, 2])
            matmul1: R.Tensor((2, s, total), dtype="float32") = R.matmul(permute_dims2, permute_dims1, out_dtype="void")
            softmax: R.Tensor((2, s, total), dtype="float32") = R.nn.softmax(matmul1, axis=-1)
            gv1: R.Tuple(R.Tensor((2, s, total), dtype="float32"), R.Tuple(R.Object)) = softmax, (lv2,)
            R.output(gv1)
        return gv1
