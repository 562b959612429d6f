# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 3, 3), dtype="float32"):
        with R.dataflow():
            gv: R.Tensor((4, 3, 3), dtype="float32") = R.layout_transform(x, index_map=T.index_map(lambda i, j: (i, j // 3, j % 3)), pad_value=T.float32(2.0))
            R.output(gv)
        return gv
