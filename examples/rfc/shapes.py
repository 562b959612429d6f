from tvm.script import relax as R, tir as T

@tvm.script.ir_module
class Shapes:
    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        X = T.match_buffer(x, (k,), "float32")
        Y = T.match_buffer(y, (j,), "float32")
        for i in T.grid(k):
            Y[i] = X[i]
        for i in T.grid(k):
            Y[i + k] = X[i] + T.float32(100)

    @R.function
    def main(x: R.Tensor[(n, 2, 2), "float32"]):
        with R.dataflow():
            lv0: R.Tensor[(n, 4), "float32"] = R.reshape(x, (n, 4))
            lv1: R.Tensor[(n * 4,), "float32"] = R.flatten(lv0)
            lv2: R.Shape = (n * 4,)

            lv3: R.Shape = R.call_packed("relax_spec.shape_double", lv2, pure=True)
            lv4 = R.call_tir("twice", (lv1,), lv3, dtype="float32")

            lv5: R.Tensor[_, "float32"] = R.unique(lv4)

            lv6: R.Tensor[(m,), "float32"] = R.match_shape(lv5, (m,))
            lv7: R.Shape = R.match_shape(lv3, (m,))

            gv0: R.Tensor[(m,), "float32"] = R.negative(lv6)
            R.outputs(gv0)

        return gv0
