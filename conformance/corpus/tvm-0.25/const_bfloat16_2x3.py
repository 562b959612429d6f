metadata = tvm.ir.load_json("""{
  \"root_index\": 11,
  \"nodes\": [
    {
      \"type\": \"ffi.String\",
      \"data\": \"relax.expr.Constant\"
    },
    {
      \"type\": \"None\"
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"int64\",
        \"value\": 2
      }
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"int64\",
        \"value\": 3
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        2,
        3
      ]
    },
    {
      \"type\": \"relax.ShapeStructInfo\",
      \"data\": {
        \"span\": 1,
        \"values\": 4,
        \"ndim\": 2
      }
    },
    {
      \"type\": \"relax.expr.ShapeExpr\",
      \"data\": {
        \"span\": 1,
        \"struct_info_\": 5,
        \"values\": 4
      }
    },
    {
      \"type\": \"relax.TensorStructInfo\",
      \"data\": {
        \"span\": 1,
        \"shape\": 6,
        \"dtype\": \"bfloat16\",
        \"vdevice\": 1,
        \"ndim\": 2
      }
    },
    {
      \"type\": \"ffi.Tensor\",
      \"data\": \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAgAAAAQQAQACAAAAAAAAAAMAAAAAAAAADAAAAAAAAAAAAIA\\/AACAPwAAgD8=\"
    },
    {
      \"type\": \"relax.expr.Constant\",
      \"data\": {
        \"span\": 1,
        \"struct_info_\": 7,
        \"data\": 8
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        9
      ]
    },
    {
      \"type\": \"ffi.Map\",
      \"data\": [
        0,
        10
      ]
    }
  ],
  \"metadata\": {
    \"tvm_version\": \"0.25.0\"
  }
}""")
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main() -> R.Tensor((2, 3), dtype="bfloat16"):
        with R.dataflow():
            gv: R.Tensor((2, 3), dtype="bfloat16") = metadata["relax.expr.Constant"][0]
            R.output(gv)
        return gv
