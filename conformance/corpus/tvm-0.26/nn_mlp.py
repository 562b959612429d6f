# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def forward(x: R.Tensor((1, 16), dtype="float32"), fc1_weight: R.Tensor((32, 16), dtype="float32"), fc1_bias: R.Tensor((32,), dtype="float32"), fc2_weight: R.Tensor((8, 32), dtype="float32")) -> R.Tensor((1, 8), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            permute_dims: R.Tensor((16, 32), dtype="float32") = R.permute_dims(fc1_weight, axes=None)
            matmul: R.Tensor((1, 32), dtype="float32") = R.matmul(x, permute_dims, out_dtype=None)
            add: R.Tensor((1, 32), dtype="float32") = R.add(matmul, fc1_bias)
            relu: R.Tensor((1, 32), dtype="float32") = R.nn.relu(add)
            permute_dims1: R.Tensor((32, 8), dtype="float32") = R.permute_dims(fc2_weight, axes=None)
            matmul1: R.Tensor((1, 8), dtype="float32") = R.matmul(relu, permute_dims1, out_dtype=None)
            gv: R.Tensor((1, 8), dtype="float32") = matmul1
            R.output(gv)
        return gv
