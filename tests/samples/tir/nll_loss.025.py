# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def nll_loss(x0: T.Buffer((T.int64(4), T.int64(3)), "float32"), x1: T.Buffer((T.int64(4),), "int64"), T_divide: T.Buffer((), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    T_full = T.sblock_alloc_buffer((T.int64(3),))
    nll_loss = T.sblock_alloc_buffer((T.int64(4),))
    nll_loss_red = T.sblock_alloc_buffer(())
    nll_loss_1 = T.sblock_alloc_buffer((T.int64(4),))
    nll_loss_red_1 = T.sblock_alloc_buffer(())
    for ax0 in range(T.int64(3)):
        with T.sblock("T_full"):
            v_ax0 = T.axis.spatial(T.int64(3), ax0)
            T.reads()
            T.writes(T_full[v_ax0])
            T_full[v_ax0] = T.float32(1.0)
    for ax0 in range(T.int64(4)):
        with T.sblock("nll_loss"):
            v_ax0 = T.axis.spatial(T.int64(4), ax0)
            T.reads(x1[v_ax0], x0[v_ax0, x1[v_ax0]], T_full[x1[v_ax0]])
            T.writes(nll_loss[v_ax0])
            nll_loss[v_ax0] = T.Select(x1[v_ax0] != T.int64(-100), (T.float32(0.0) - x0[v_ax0, x1[v_ax0]]) * T_full[x1[v_ax0]], T.float32(0.0))
    for k0 in range(T.int64(4)):
        with T.sblock("nll_loss_red"):
            v_k0 = T.axis.reduce(T.int64(4), k0)
            T.reads(nll_loss[v_k0])
            T.writes(nll_loss_red[()])
            with T.init():
                nll_loss_red[()] = T.float32(0.0)
            nll_loss_red[()] = nll_loss_red[()] + nll_loss[v_k0]
    for ax0 in range(T.int64(4)):
        with T.sblock("nll_loss_1"):
            v_ax0 = T.axis.spatial(T.int64(4), ax0)
            T.reads(x1[v_ax0], T_full[x1[v_ax0]])
            T.writes(nll_loss_1[v_ax0])
            nll_loss_1[v_ax0] = T.Select(x1[v_ax0] != T.int64(-100), T_full[x1[v_ax0]], T.float32(0.0))
    for k0 in range(T.int64(4)):
        with T.sblock("nll_loss_red_1"):
            v_k0 = T.axis.reduce(T.int64(4), k0)
            T.reads(nll_loss_1[v_k0])
            T.writes(nll_loss_red_1[()])
            with T.init():
                nll_loss_red_1[()] = T.float32(0.0)
            nll_loss_red_1[()] = nll_loss_red_1[()] + nll_loss_1[v_k0]
    with T.sblock("T_divide"):
        vi = T.axis.spatial(1, T.int64(0))
        T.reads(nll_loss_red[()], nll_loss_red_1[()])
        T.writes(T_divide[()])
        T_divide[()] = nll_loss_red[()] / nll_loss_red_1[()]
