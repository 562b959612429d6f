# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sort(var_x: T.handle, var_sort_cpu: T.handle):
        T.func_attr({"tirx.noalias": True})
        data_buf = T.match_buffer(var_x, (T.int64(4), T.int64(8)), align=8)
        out_buf = T.match_buffer(var_sort_cpu, (T.int64(4), T.int64(8)), align=8)
        with T.sblock("sort_cpu"):
            T.reads()
            T.writes()
            T.call_packed("tvm.contrib.sort.sort", T.tvm_stack_make_array(data_buf.data, T.tvm_stack_make_shape(T.int64(4), T.int64(8)), 0, 2, T.float32(0.0), T.int64(0)), T.tvm_stack_make_array(out_buf.data, T.tvm_stack_make_shape(T.int64(4), T.int64(8)), 0, 2, T.float32(0.0), T.int64(0)), -1, T.bool(True))

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.sort, (x,), out_sinfo=R.Tensor((4, 8), dtype="float32"))
            R.output(gv)
        return gv
