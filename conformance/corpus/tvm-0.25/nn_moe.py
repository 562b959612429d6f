# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def forward(x: R.Tensor((4, 8), dtype="float32"), gate_weight: R.Tensor((4, 8), dtype="float32"), weight: R.Tensor((4, 8, 8), dtype="float32")) -> R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((4, 2), dtype="float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            permute_dims: R.Tensor((8, 4), dtype="float32") = R.permute_dims(gate_weight, axes=None)
            matmul: R.Tensor((4, 4), dtype="float32") = R.matmul(x, permute_dims, out_dtype="void")
            softmax: R.Tensor((4, 4), dtype="float32") = R.nn.softmax(matmul, axis=-1)
            topk: R.Tuple(R.Tensor((4, 2), dtype="float32"), R.Tensor((4, 2), dtype="int32")) = R.topk(softmax, k=2, axis=-1, ret_type="both", largest=True, dtype="int32")
            topk_0: R.Tensor((4, 2), dtype="float32") = topk[0]
            topk_1: R.Tensor((4, 2), dtype="int32") = topk[1]
            reshape: R.Tensor((8,), dtype="int32") = R.reshape(topk_1, R.shape([8]))
            take: R.Tensor((8, 8, 8), dtype="float32") = R.take(weight, reshape, axis=0, mode="fast")
            sum: R.Tensor((8, 8), dtype="float32") = R.sum(take, axis=[0], keepdims=False)
            gv: R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((4, 2), dtype="float32")) = sum, topk_0
            R.output(gv)
        return gv
