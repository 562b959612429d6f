# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
        T.func_attr({"target": T.target({"host": {"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, "keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}), "tirx.noalias": True})
        A_1 = A.view(256)
        B_1 = B.view(256)
        C_1 = C.view(256)
        for i, j, k in T.grid(16, 16, 16):
            if k == 0:
                C_1[i * 16 + j] = T.float32(0.0)
            C_1[i * 16 + j] = C_1[i * 16 + j] + A_1[i * 16 + k] * B_1[k * 16 + j]
