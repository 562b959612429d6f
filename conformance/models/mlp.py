# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def forward(x: R.Tensor(("batch", 16), dtype="float32"), up_weight: R.Tensor((32, 16), dtype="float32"), up_bias: R.Tensor((32,), dtype="float32"), down_weight: R.Tensor((8, 32), dtype="float32"), down_bias: R.Tensor((8,), dtype="float32")) -> R.Tensor(("batch", 8), dtype="float32"):
        batch = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            permute_dims: R.Tensor((16, 32), dtype="float32") = R.permute_dims(up_weight, axes=None)
            matmul: R.Tensor((batch, 32), dtype="float32") = R.matmul(x, permute_dims, out_dtype="void")
            add: R.Tensor((batch, 32), dtype="float32") = R.add(matmul, up_bias)
            relu: R.Tensor((batch, 32), dtype="float32") = R.nn.relu(add)
            permute_dims1: R.Tensor((32, 8), dtype="float32") = R.permute_dims(down_weight, axes=None)
            matmul1: R.Tensor((batch, 8), dtype="float32") = R.matmul(relu, permute_dims1, out_dtype="void")
            add1: R.Tensor((batch, 8), dtype="float32") = R.add(matmul1, down_bias)
            gv: R.Tensor((batch, 8), dtype="float32") = add1
            R.output(gv)
        return gv
