# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def matmul_tiled(A: T.Buffer((5, 6), "float32"), B: T.Buffer((6, 7), "float32"), C: T.Buffer((5, 7), "float32")):
    # with T.sblock("root"):
    B_local = T.sblock_alloc_buffer((6, 7), scope="local")
    for i_0 in T.parallel(3):
        for j_0, k_0 in T.grid(2, 2):
            for ax0, ax1 in T.grid(4, 4):
                with T.sblock("B_local"):
                    v0 = T.axis.spatial(6, k_0 * 4 + ax0)
                    v1 = T.axis.spatial(7, j_0 * 4 + ax1)
                    T.where(k_0 * 4 + ax0 < 6 and j_0 * 4 + ax1 < 7)
                    T.reads(B[v0, v1])
                    T.writes(B_local[v0, v1])
                    B_local[v0, v1] = B[v0, v1]
            for k_1, i_1 in T.grid(4, 2):
                for j_1 in T.vectorized(4):
                    with T.sblock("C"):
                        vi = T.axis.spatial(5, i_0 * 2 + i_1)
                        vj = T.axis.spatial(7, j_0 * 4 + j_1)
                        vk = T.axis.reduce(6, k_0 * 4 + k_1)
                        T.where(i_0 * 2 + i_1 < 5 and j_0 * 4 + j_1 < 7 and k_0 * 4 + k_1 < 6)
                        T.reads(A[vi, vk], B_local[vk, vj])
                        T.writes(C[vi, vj])
                        with T.init():
                            C[vi, vj] = T.float32(0.0)
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B_local[vk, vj]
