# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def forward(x: R.Tensor((1, 8, 8, 8), dtype="float32"), norm_weight: R.Tensor((8,), dtype="float32"), norm_bias: R.Tensor((8,), dtype="float32"), first_weight: R.Tensor((8, 8, 3, 3), dtype="float32"), first_bias: R.Tensor((8,), dtype="float32"), second_weight: R.Tensor((8, 8, 3, 3), dtype="float32"), project_weight: R.Tensor((16, 8, 1, 1), dtype="float32"), project_bias: R.Tensor((16,), dtype="float32")) -> R.Tensor((1, 16), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            group_norm: R.Tensor((1, 8, 8, 8), dtype="float32") = R.nn.group_norm(x, norm_weight, norm_bias, num_groups=2, channel_axis=1, axes=[2, 3], epsilon=1.0000000000000001e-05, center=True, scale=True)
            relu: R.Tensor((1, 8, 8, 8), dtype="float32") = R.nn.relu(group_norm)
            lv: R.Tensor((1, 8, 8, 8), dtype="float32") = R.nn.conv2d(relu, first_weight, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="void")
            lv1: R.Tensor((1, 8, 1, 1), dtype="float32") = R.reshape(first_bias, R.shape([1, 8, 1, 1]))
            conv2d: R.Tensor((1, 8, 8, 8), dtype="float32") = R.add(lv, lv1)
            relu1: R.Tensor((1, 8, 8, 8), dtype="float32") = R.nn.relu(conv2d)
            conv2d1: R.Tensor((1, 8, 8, 8), dtype="float32") = R.nn.conv2d(relu1, second_weight, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="void")
            add: R.Tensor((1, 8, 8, 8), dtype="float32") = R.add(conv2d1, x)
            lv2: R.Tensor((1, 16, 4, 4), dtype="float32") = R.nn.conv2d(add, project_weight, strides=[2, 2], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype="void")
            lv3: R.Tensor((1, 16, 1, 1), dtype="float32") = R.reshape(project_bias, R.shape([1, 16, 1, 1]))
            conv2d2: R.Tensor((1, 16, 4, 4), dtype="float32") = R.add(lv2, lv3)
            relu2: R.Tensor((1, 16, 4, 4), dtype="float32") = R.nn.relu(conv2d2)
            sum: R.Tensor((1, 16), dtype="float32") = R.sum(relu2, axis=[2, 3], keepdims=False)
            gv: R.Tensor((1, 16), dtype="float32") = sum
            R.output(gv)
        return gv
