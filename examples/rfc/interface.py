from tvm.script import relax as R, tir as T

@tvm.script.ir_module
class Interface:
    @T.prim_func
    def halve(x: T.handle, y: T.handle):
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in T.grid(n):
            Y[i] = X[i] * T.float32(0.5)

    @R.function
    def main(x: R.Tensor[(n, k), "float32"], w: R.Tensor[_, "float32"]):
        with R.dataflow():
            lv0 = R.match_shape(w, (k, m))
            lv1: R.Tensor[(n, m), "float32"] = R.dot(x, lv0)
            lv2: R.Tensor[(n * m,), "float32"] = R.flatten(lv1)
            lv3: R.Shape = (n * m,)
            gv0 = R.call_tir(halve, [lv2], lv3, dtype="float32")
            R.outputs(gv0)

        R.call_packed("relax_spec.add_inplace", gv0, gv0)
        return gv0
