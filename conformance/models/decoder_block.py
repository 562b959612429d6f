# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def forward(x: R.Tensor((1, 32, 64), dtype="float32"), keys: R.Tensor((1, "past", 4, 16), dtype="float32"), values: R.Tensor((1, "past", 4, 16), dtype="float32"), cosines: R.Tensor((1, 32, 1, 16), dtype="float32"), sines: R.Tensor((1, 32, 1, 16), dtype="float32"), attention_norm_weight: R.Tensor((64,), dtype="float32"), query_weight: R.Tensor((64, 64), dtype="float32"), key_weight: R.Tensor((64, 64), dtype="float32"), value_weight: R.Tensor((64, 64), dtype="float32"), out_weight: R.Tensor((64, 64), dtype="float32"), feed_norm_weight: R.Tensor((64,), dtype="float32"), gate_weight: R.Tensor((128, 64), dtype="float32"), up_weight: R.Tensor((128, 64), dtype="float32"), down_weight: R.Tensor((64, 128), dtype="float32")) -> R.Tuple(R.Tensor((1, 32, 64), dtype="float32"), R.Tensor((1, "past + 32", 4, 16), dtype="float32"), R.Tensor((1, "past + 32", 4, 16), dtype="float32")):
        past = T.int64()
        R.func_attr({"num_input": 5})
        with R.dataflow():
            full: R.Tensor((1, 1, 32, 32), dtype="float32") = R.full(R.shape([1, 1, 32, 32]), R.const(-1000000000.0, "float32"), dtype="float32")
            triu: R.Tensor((1, 1, 32, 32), dtype="float32") = R.triu(full, R.prim_value(1))
            zeros: R.Tensor((1, 1, 32, past), dtype="float32") = R.zeros(R.shape([1, 1, 32, past]), dtype="float32")
            concat: R.Tensor((1, 1, 32, past + 32), dtype="float32") = R.concat((zeros, triu), axis=-1)
            rms_norm: R.Tensor((1, 32, 64), dtype="float32") = R.nn.rms_norm(x, attention_norm_weight, axes=[-1], epsilon=1.0000000000000001e-05)
            permute_dims: R.Tensor((64, 64), dtype="float32") = R.permute_dims(query_weight, axes=None)
            matmul: R.Tensor((1, 32, 64), dtype="float32") = R.matmul(rms_norm, permute_dims, out_dtype="void")
            reshape: R.Tensor((1, 32, 4, 16), dtype="float32") = R.reshape(matmul, R.shape([1, 32, 4, 16]))
            split: R.Tuple(R.Tensor((1, 32, 4, 8), dtype="float32"), R.Tensor((1, 32, 4, 8), dtype="float32")) = R.split(reshape, indices_or_sections=2, axis=-1)
            split_0: R.Tensor((1, 32, 4, 8), dtype="float32") = split[0]
            split_1: R.Tensor((1, 32, 4, 8), dtype="float32") = split[1]
            mul: R.Tensor((1, 32, 4, 16), dtype="float32") = R.multiply(reshape, cosines)
            neg: R.Tensor((1, 32, 4, 8), dtype="float32") = R.negative(split_1)
            concat1: R.Tensor((1, 32, 4, 16), dtype="float32") = R.concat((neg, split_0), axis=-1)
            mul1: R.Tensor((1, 32, 4, 16), dtype="float32") = R.multiply(concat1, sines)
            add: R.Tensor((1, 32, 4, 16), dtype="float32") = R.add(mul, mul1)
            permute_dims1: R.Tensor((64, 64), dtype="float32") = R.permute_dims(key_weight, axes=None)
            matmul1: R.Tensor((1, 32, 64), dtype="float32") = R.matmul(rms_norm, permute_dims1, out_dtype="void")
            reshape1: R.Tensor((1, 32, 4, 16), dtype="float32") = R.reshape(matmul1, R.shape([1, 32, 4, 16]))
            split1: R.Tuple(R.Tensor((1, 32, 4, 8), dtype="float32"), R.Tensor((1, 32, 4, 8), dtype="float32")) = R.split(reshape1, indices_or_sections=2, axis=-1)
            split_01: R.Tensor((1, 32, 4, 8), dtype="float32") = split1[0]
            split_11: R.Tensor((1, 32, 4, 8), dtype="float32") = split1[1]
            mul2: R.Tensor((1, 32, 4, 16), dtype="float32") = R.multiply(reshape1, cosines)
            neg1: R.Tensor((1, 32, 4, 8), dtype="float32") = R.negative(split_11)
            concat2: R.Tensor((1, 32, 4, 16), dtype="float32") = R.concat((neg1, split_01), axis=-1)
            mul3: R.Tensor((1, 32, 4, 16), dtype="float32") = R.multiply(concat2, sines)
            add1: R.Tensor((1, 32, 4, 16), dtype="float32") = R.add(mul2, mul3)
            concat3: R.Tensor((1, past + 32, 4, 16), dtype="float32") = R.concat((keys, add1), axis=1)
            permute_dims2: R.Tensor((64, 64), dtype="float32") = R.permute_dims(value_weight, axes=None)
            matmul2: R.Tensor((1, 32, 64), dtype="float32") = R.matmul(rms_norm, permute_dims2, out_dtype="void")
            reshape2: R.Tensor((1, 32, 4, 16), dtype="float32") = R.reshape(matmul2, R.shape([1, 32, 4, 16]))
            concat4: R.Tensor((1, past + 32, 4, 16), dtype="float32") = R.concat((values, reshape2), axis=1)
            permute_dims3: R.Tensor((1, 4, 32, 16), dtype="float32") = R.permute_dims(add, axes=[0, 2, 1, 3])
            permute_dims4: R.Tensor((1, 4, 16, past + 32), dtype="float32") = R.permute_dims(concat3, axes=[0, 2, 3, 1])
            matmul3: R.Tensor((1, 4, 32, past + 32), dtype="float32") = R.matmul(permute_dims3, permute_dims4, out_dtype="void")
            mul4: R.Tensor((1, 4, 32, past + 32), dtype="float32") = R.multiply(matmul3, R.const(0.25, "float32"))
            add2: R.Tensor((1, 4, 32, past + 32), dtype="float32") = R.add(mul4, concat)
            softmax: R.Tensor((1, 4, 32, past + 32), dtype="float32") = R.nn.softmax(add2, axis=-1)
            permute_dims5: R.Tensor((1, 4, past + 32, 16), dtype="float32") = R.permute_dims(concat4, axes=[0, 2, 1, 3])
            matmul4: R.Tensor((1, 4, 32, 16), dtype="float32") = R.matmul(softmax, permute_dims5, out_dtype="void")
            permute_dims6: R.Tensor((1, 32, 4, 16), dtype="float32") = R.permute_dims(matmul4, axes=[0, 2, 1, 3])
            reshape3: R.Tensor((1, 32, 64), dtype="float32") = R.reshape(permute_dims6, R.shape([1, 32, 64]))
            permute_dims7: R.Tensor((64, 64), dtype="float32") = R.permute_dims(out_weight, axes=None)
            matmul5: R.Tensor((1, 32, 64), dtype="float32") = R.matmul(reshape3, permute_dims7, out_dtype="void")
            add3: R.Tensor((1, 32, 64), dtype="float32") = R.add(x, matmul5)
            rms_norm1: R.Tensor((1, 32, 64), dtype="float32") = R.nn.rms_norm(add3, feed_norm_weight, axes=[-1], epsilon=1.0000000000000001e-05)
            permute_dims8: R.Tensor((64, 128), dtype="float32") = R.permute_dims(gate_weight, axes=None)
            matmul6: R.Tensor((1, 32, 128), dtype="float32") = R.matmul(rms_norm1, permute_dims8, out_dtype="void")
            silu: R.Tensor((1, 32, 128), dtype="float32") = R.nn.silu(matmul6)
            permute_dims9: R.Tensor((64, 128), dtype="float32") = R.permute_dims(up_weight, axes=None)
            matmul7: R.Tensor((1, 32, 128), dtype="float32") = R.matmul(rms_norm1, permute_dims9, out_dtype="void")
            mul5: R.Tensor((1, 32, 128), dtype="float32") = R.multiply(silu, matmul7)
            permute_dims10: R.Tensor((128, 64), dtype="float32") = R.permute_dims(down_weight, axes=None)
            matmul8: R.Tensor((1, 32, 64), dtype="float32") = R.matmul(mul5, permute_dims10, out_dtype="void")
            add4: R.Tensor((1, 32, 64), dtype="float32") = R.add(add3, matmul8)
            gv: R.Tuple(R.Tensor((1, 32, 64), dtype="float32"), R.Tensor((1, past + 32, 4, 16), dtype="float32"), R.Tensor((1, past + 32, 4, 16), dtype="float32")) = add4, concat3, concat4
            R.output(gv)
        return gv
