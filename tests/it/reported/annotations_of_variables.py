# check 2024-04: 0
# What annotations say of variables stands for itself.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(A: T.Buffer((2, 4), "float32"), B: T.Buffer((2, 4), "float32")):
        for i, j in T.grid(*A.shape):
            B[i, j] = A[i, j] * T.Cast(A.dtype, 2)
    @R.function
    def main(x: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        y = R.call_tir(Module.double, (x,), out_sinfo=x.struct_info)
        z: R.Tensor((2, 4), "float16") = R.astype(y, "float16")
        w = R.astype(z, x.struct_info.dtype)
        v = R.zeros(R.shape([x.struct_info.shape[0], x.struct_info.shape[1]]), x.struct_info.dtype)
        u = R.add(w, v)
        return u
