# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def sum_all_f16(x0: T.Buffer((T.int64(3), T.int64(4)), "float16"), x0_red: T.Buffer((), "float16")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for k0, k1 in T.grid(T.int64(3), T.int64(4)):
        with T.sblock("x0_red"):
            v_k0, v_k1 = T.axis.remap("RR", [k0, k1])
            T.reads(x0[v_k0, v_k1])
            T.writes(x0_red[()])
            with T.init():
                x0_red[()] = T.float16(0.0)
            x0_red[()] = x0_red[()] + x0[v_k0, v_k1]
