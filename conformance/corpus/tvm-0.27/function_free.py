# from tvm.script import relax as R

@R.function(private=True)
def main() -> R.Tensor((4,), dtype="float32"):
    x: R.Tensor((4,), dtype="float32")
    return x
