# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def forward(x: R.Tensor(("tokens", 16), dtype="float32"), router_weight: R.Tensor((4, 16), dtype="float32"), up_0_weight: R.Tensor((32, 16), dtype="float32"), up_1_weight: R.Tensor((32, 16), dtype="float32"), up_2_weight: R.Tensor((32, 16), dtype="float32"), up_3_weight: R.Tensor((32, 16), dtype="float32"), down_0_weight: R.Tensor((16, 32), dtype="float32"), down_1_weight: R.Tensor((16, 32), dtype="float32"), down_2_weight: R.Tensor((16, 32), dtype="float32"), down_3_weight: R.Tensor((16, 32), dtype="float32")) -> R.Tensor(("tokens", 16), dtype="float32"):
        tokens = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            permute_dims: R.Tensor((16, 4), dtype="float32") = R.permute_dims(router_weight, axes=None)
            matmul: R.Tensor((tokens, 4), dtype="float32") = R.matmul(x, permute_dims, out_dtype="void")
            softmax: R.Tensor((tokens, 4), dtype="float32") = R.nn.softmax(matmul, axis=-1)
            max: R.Tensor((tokens, 1), dtype="float32") = R.max(softmax, axis=[-1], keepdims=True)
            greater_equal: R.Tensor((tokens, 4), dtype="bool") = R.greater_equal(softmax, max)
            astype: R.Tensor((tokens, 4), dtype="float32") = R.astype(greater_equal, dtype="float32")
            mul: R.Tensor((tokens, 4), dtype="float32") = R.multiply(softmax, astype)
            split: R.Tuple(R.Tensor((tokens, 1), dtype="float32"), R.Tensor((tokens, 1), dtype="float32"), R.Tensor((tokens, 1), dtype="float32"), R.Tensor((tokens, 1), dtype="float32")) = R.split(mul, indices_or_sections=4, axis=-1)
            split_0: R.Tensor((tokens, 1), dtype="float32") = split[0]
            split_1: R.Tensor((tokens, 1), dtype="float32") = split[1]
            split_2: R.Tensor((tokens, 1), dtype="float32") = split[2]
            split_3: R.Tensor((tokens, 1), dtype="float32") = split[3]
            permute_dims1: R.Tensor((16, 32), dtype="float32") = R.permute_dims(up_0_weight, axes=None)
            matmul1: R.Tensor((tokens, 32), dtype="float32") = R.matmul(x, permute_dims1, out_dtype="void")
            relu: R.Tensor((tokens, 32), dtype="float32") = R.nn.relu(matmul1)
            permute_dims2: R.Tensor((32, 16), dtype="float32") = R.permute_dims(down_0_weight, axes=None)
            matmul2: R.Tensor((tokens, 16), dtype="float32") = R.matmul(relu, permute_dims2, out_dtype="void")
            mul1: R.Tensor((tokens, 16), dtype="float32") = R.multiply(split_0, matmul2)
            permute_dims3: R.Tensor((16, 32), dtype="float32") = R.permute_dims(up_1_weight, axes=None)
            matmul3: R.Tensor((tokens, 32), dtype="float32") = R.matmul(x, permute_dims3, out_dtype="void")
            relu1: R.Tensor((tokens, 32), dtype="float32") = R.nn.relu(matmul3)
            permute_dims4: R.Tensor((32, 16), dtype="float32") = R.permute_dims(down_1_weight, axes=None)
            matmul4: R.Tensor((tokens, 16), dtype="float32") = R.matmul(relu1, permute_dims4, out_dtype="void")
            mul2: R.Tensor((tokens, 16), dtype="float32") = R.multiply(split_1, matmul4)
            permute_dims5: R.Tensor((16, 32), dtype="float32") = R.permute_dims(up_2_weight, axes=None)
            matmul5: R.Tensor((tokens, 32), dtype="float32") = R.matmul(x, permute_dims5, out_dtype="void")
            relu2: R.Tensor((tokens, 32), dtype="float32") = R.nn.relu(matmul5)
            permute_dims6: R.Tensor((32, 16), dtype="float32") = R.permute_dims(down_2_weight, axes=None)
            matmul6: R.Tensor((tokens, 16), dtype="float32") = R.matmul(relu2, permute_dims6, out_dtype="void")
            mul3: R.Tensor((tokens, 16), dtype="float32") = R.multiply(split_2, matmul6)
            permute_dims7: R.Tensor((16, 32), dtype="float32") = R.permute_dims(up_3_weight, axes=None)
            matmul7: R.Tensor((tokens, 32), dtype="float32") = R.matmul(x, permute_dims7, out_dtype="void")
            relu3: R.Tensor((tokens, 32), dtype="float32") = R.nn.relu(matmul7)
            permute_dims8: R.Tensor((32, 16), dtype="float32") = R.permute_dims(down_3_weight, axes=None)
            matmul8: R.Tensor((tokens, 16), dtype="float32") = R.matmul(relu3, permute_dims8, out_dtype="void")
            mul4: R.Tensor((tokens, 16), dtype="float32") = R.multiply(split_3, matmul8)
            add: R.Tensor((tokens, 16), dtype="float32") = R.add(mul1, mul2)
            add1: R.Tensor((tokens, 16), dtype="float32") = R.add(add, mul3)
            add2: R.Tensor((tokens, 16), dtype="float32") = R.add(add1, mul4)
            gv: R.Tensor((tokens, 16), dtype="float32") = add2
            R.output(gv)
        return gv
