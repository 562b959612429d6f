# A pure PrimFunc is called where only pure calls may stand: wrong in the editions 2023-02 and 2023-12, accepted by 2024-04.
from tvm.script import ir as I, relax as R, tir as T


@I.ir_module
class Module:
    @T.prim_func(private=True)
    def noop(n: T.int64):
        T.evaluate(0)

    @R.function
    def main(k: R.Prim("int64")):
        with R.dataflow():
            unit = Module.noop(k)
            R.output(unit)
        return k
