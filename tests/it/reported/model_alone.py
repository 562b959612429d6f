# error 1: a model becomes one by its method `export_tvm(..)`
from tvm.relax.frontend import nn
class Attention(nn.Module):
    def __init__(self, dim):
        self.proj = nn.Linear(dim, dim)
    def forward(self, x):
        return self.proj(x)
model = Attention(16)
