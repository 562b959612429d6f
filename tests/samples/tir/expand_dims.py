# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def expand_dims(x0: T.Buffer((T.int64(3), T.int64(4)), "float32"), expand_dims: T.Buffer((T.int64(1), T.int64(3), T.int64(1), T.int64(4)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(3), T.int64(1), T.int64(4)):
        with T.sblock("expand_dims"):
            v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(x0[v_i1, v_i3])
            T.writes(expand_dims[v_i0, v_i1, v_i2, v_i3])
            expand_dims[v_i0, v_i1, v_i2, v_i3] = x0[v_i1, v_i3]
