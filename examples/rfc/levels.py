from tvm.script import relax as R, tir as T

@tvm.script.ir_module
class Levels:
    @T.prim_func
    def product(x: T.handle, y: T.handle, z: T.handle) -> None:
        m = T.var("int64")
        n = T.var("int64")
        k = T.var("int64")
        A = T.match_buffer(x, (m, n))
        B = T.match_buffer(y, (n, k))
        C = T.match_buffer(z, (m, k))
        for (i0, j0, k0) in T.grid(m, k, n):
            with T.block():
                i, j, l = T.axis.remap("SSR", [i0, j0, k0])
                with T.init():
                    C[i, j] = 0.0
                C[i, j] += A[i, l] * B[l, j]

    @R.function
    def main(x: R.Tensor[(m, n), "float32"], y: R.Tensor[(n, k), "float32"]):
        with R.dataflow():
            gv0 = R.call_tir(product, (x, y), (m, k), dtype="float32")
            R.outputs(gv0)

        # calls of packed functions: for its effect, for its value, and for what it writes
        R.call_packed("relax_spec.log", gv0)
        gv1 = R.call_packed("relax_spec.add", gv0, gv0)
        gv2 = R.call_dps_packed("relax_spec.fill_dps", (gv1), (m, k * 2), dtype="float32")
        return gv2
