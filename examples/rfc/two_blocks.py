from tvm.script import relax as R

@R.function
def main(x: R.Tensor((1, 2), "float32"), w: R.Tensor((2, 2), "float32"), b: R.Tensor((2,), "float32")):
    with R.dataflow():
        lv0 = R.matmul(x, w)
        gv0 = R.add(lv0, b)
        R.output(gv0)

    R.call_packed("relax_spec.add_inplace", gv0, gv0)
    gv1: R.Tensor((2, 2), "float32") = R.call_packed("relax_spec.log", w)

    with R.dataflow():
        out = R.matmul(gv0, gv1)
        R.outputs(out)
    return out
