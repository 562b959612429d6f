# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def regions(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    # with T.sblock("root"):
    for i, j in T.grid(2, 2):
        with T.sblock("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2])
            T.writes(B[vj * 2:vj * 2 + 2, vi * 2:vi * 2 + 2])
            S = T.match_buffer(A[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2], (2, 2), strides=("S_s0", "S_s1"), offset_factor=1)
            D = T.match_buffer(B[vj * 2:vj * 2 + 2, vi * 2:vi * 2 + 2], (2, 2), strides=("D_s0", "D_s1"), offset_factor=1)
            for k, l in T.grid(2, 2):
                D[l, k] = S[k, l]
