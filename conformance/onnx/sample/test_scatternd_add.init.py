metadata = tvm.ir.load_json("""{
  \"root_index\": 25,
  \"nodes\": [
    {
      \"type\": \"ffi.String\",
      \"data\": \"ir.GenericConst\"
    },
    {
      \"type\": \"None\"
    },
    {
      \"type\": \"ir.PrimType\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"int64\"
      }
    },
    {
      \"type\": \"int\",
      \"data\": 2
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 2,
        \"value\": 3
      }
    },
    {
      \"type\": \"int\",
      \"data\": 1
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 2,
        \"value\": 5
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        4,
        6
      ]
    },
    {
      \"type\": \"relax.ShapeType\",
      \"data\": {
        \"span\": 1,
        \"values\": 7,
        \"ndim\": 2
      }
    },
    {
      \"type\": \"relax.expr.ShapeExpr\",
      \"data\": {
        \"span\": 1,
        \"ty\": 8,
        \"values\": 7
      }
    },
    {
      \"type\": \"relax.TensorType\",
      \"data\": {
        \"span\": 1,
        \"shape\": 9,
        \"dtype\": 2,
        \"vdevice\": 1,
        \"ndim\": 2
      }
    },
    {
      \"type\": \"ffi.Tensor\",
      \"data\": \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAgAAAABAAQACAAAAAAAAAAEAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"
    },
    {
      \"type\": \"ir.GenericConst\",
      \"data\": {
        \"span\": 1,
        \"ty\": 10,
        \"value\": 11
      }
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 2,
        \"value\": 3
      }
    },
    {
      \"type\": \"int\",
      \"data\": 4
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 2,
        \"value\": 14
      }
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"ty\": 2,
        \"value\": 14
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        13,
        15,
        16
      ]
    },
    {
      \"type\": \"relax.ShapeType\",
      \"data\": {
        \"span\": 1,
        \"values\": 17,
        \"ndim\": 3
      }
    },
    {
      \"type\": \"relax.expr.ShapeExpr\",
      \"data\": {
        \"span\": 1,
        \"ty\": 18,
        \"values\": 17
      }
    },
    {
      \"type\": \"ir.PrimType\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"float32\"
      }
    },
    {
      \"type\": \"relax.TensorType\",
      \"data\": {
        \"span\": 1,
        \"shape\": 19,
        \"dtype\": 20,
        \"vdevice\": 1,
        \"ndim\": 3
      }
    },
    {
      \"type\": \"ffi.Tensor\",
      \"data\": \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAwAAAAIgAQACAAAAAAAAAAQAAAAAAAAABAAAAAAAAACAAAAAAAAAAAAAoEAAAKBAAACgQAAAoEAAAMBAAADAQAAAwEAAAMBAAADgQAAA4EAAAOBAAADgQAAAAEEAAABBAAAAQQAAAEEAAIA\\/AACAPwAAgD8AAIA\\/AAAAQAAAAEAAAABAAAAAQAAAQEAAAEBAAABAQAAAQEAAAIBAAACAQAAAgEAAAIBA\"
    },
    {
      \"type\": \"ir.GenericConst\",
      \"data\": {
        \"span\": 1,
        \"ty\": 21,
        \"value\": 22
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        12,
        23
      ]
    },
    {
      \"type\": \"ffi.Map\",
      \"data\": [
        0,
        24
      ]
    }
  ],
  \"metadata\": {
    \"tvm_version\": \"0.27.0.post1\"
  }
}""")
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(data: R.Tensor((4, 4, 4), dtype="float32")) -> R.Tensor((4, 4, 4), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv: R.Shape([4, 4, 4]) = R.shape_of(data)
            lv1: R.Tensor((3,), dtype="int64") = R.shape_to_tensor(lv)
            lv2: R.Tensor((2, 1), dtype="bool") = R.less(metadata["ir.GenericConst"][0], R.const(0, "int64"))
            lv3: R.Tensor((1,), dtype="int64") = R.strided_slice(lv1, (0,), (0,), (1,), assume_inbound=False)
            lv4: R.Tensor((2, 1), dtype="int64") = R.add(metadata["ir.GenericConst"][0], lv3)
            lv5: R.Tensor((2, 1), dtype="int64") = R.where(lv2, lv4, metadata["ir.GenericConst"][0])
            gv: R.Tensor((4, 4, 4), dtype="float32") = R.scatter_nd(data, lv5, metadata["ir.GenericConst"][1], reduction="add")
            R.output(gv)
        return gv
