# check 2024-04: 0
# modules: test_bias.functions test_bias.functions#2 test_relu.functions
# Each function with a symbol of its own is a program, and is bound to its symbol.
from tvm.script import ir as I, relax as R, tir as T
def test_bias():
    @R.function(private=True)
    def before(a: R.Tensor((16,), "float32")):
        R.func_attr({"global_symbol": "main"})
        b = R.add(a, a)
        return b
    @R.function(private=True)
    def expected(a: R.Tensor((16,), "float32")):
        R.func_attr({"global_symbol": "main"})
        return a
    assert before is not expected
def test_relu():
    @R.function
    def before(a: R.Tensor((16,), "float32")):
        R.func_attr({"global_symbol": "main"})
        b = R.nn.relu(a)
        return b
