# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def conv2d_groups(x0: T.Buffer((T.int64(1), T.int64(4), T.int64(5), T.int64(5)), "float32"), x1: T.Buffer((T.int64(4), T.int64(2), T.int64(3), T.int64(3)), "float32"), group_conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(1), T.int64(1)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    pad_temp = T.sblock_alloc_buffer((T.int64(1), T.int64(4), T.int64(5), T.int64(5)))
    for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), T.int64(5), T.int64(5)):
        with T.sblock("pad_temp"):
            v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(x0[v_i0, v_i1, v_i2, v_i3])
            T.writes(pad_temp[v_i0, v_i1, v_i2, v_i3])
            pad_temp[v_i0, v_i1, v_i2, v_i3] = x0[v_i0, v_i1, v_i2, v_i3]
    for nn, ff, yy, xx, rc, ry, rx in T.grid(T.int64(1), T.int64(4), T.int64(1), T.int64(1), T.int64(2), T.int64(3), T.int64(3)):
        with T.sblock("group_conv2d_nchw"):
            v_nn, v_ff, v_yy, v_xx, v_rc, v_ry, v_rx = T.axis.remap("SSSSRRR", [nn, ff, yy, xx, rc, ry, rx])
            T.reads(pad_temp[v_nn, v_ff // T.int64(2) * T.int64(2) + v_rc, v_ry * T.int64(2) + v_yy, v_rx * T.int64(2) + v_xx], x1[v_ff, v_rc, v_ry, v_rx])
            T.writes(group_conv2d_nchw[v_nn, v_ff, v_yy, v_xx])
            with T.init():
                group_conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = T.float32(0.0)
            group_conv2d_nchw[v_nn, v_ff, v_yy, v_xx] = group_conv2d_nchw[v_nn, v_ff, v_yy, v_xx] + pad_temp[v_nn, v_ff // T.int64(2) * T.int64(2) + v_rc, v_ry * T.int64(2) + v_yy, v_rx * T.int64(2) + v_xx] * x1[v_ff, v_rc, v_ry, v_rx]
