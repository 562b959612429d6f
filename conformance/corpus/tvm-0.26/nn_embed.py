# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def forward(ids: R.Tensor(("n",), dtype="int32"), table_weight: R.Tensor((32, 8), dtype="float32")) -> R.Tensor(("n", 8), dtype="float16"):
        n = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            take: R.Tensor((n, 8), dtype="float32") = R.take(table_weight, ids, axis=0, mode="fast")
            astype: R.Tensor((n, 8), dtype="float16") = R.astype(take, dtype="float16")
            gv: R.Tensor((n, 8), dtype="float16") = astype
            R.output(gv)
        return gv
