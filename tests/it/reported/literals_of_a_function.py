# check 2024-04: 0
# Names that a function gives to what Python computes, used as attributes.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, 4, 2, 8), "float32")):
        scale = T.FloatImm("float32", 0.25)
        mask = "BottomRight"
        layout = "NCHW"
        perm = [0, 2, 1, 3]
        gv = R.nn.attention(q, q, q, scale=scale, causal_mask=mask, window_size=T.IntImm("int32", 3))
        t = R.permute_dims(gv, axes=perm)
        p = R.nn.max_pool2d(t, pool_size=[perm[2], perm[2]], layout=layout)
        return p
