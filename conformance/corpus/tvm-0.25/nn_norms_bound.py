metadata = tvm.ir.load_json("""{
  \"root_index\": 24,
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
        \"value\": 8
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        2
      ]
    },
    {
      \"type\": \"relax.ShapeStructInfo\",
      \"data\": {
        \"span\": 1,
        \"values\": 3,
        \"ndim\": 1
      }
    },
    {
      \"type\": \"relax.expr.ShapeExpr\",
      \"data\": {
        \"span\": 1,
        \"struct_info_\": 4,
        \"values\": 3
      }
    },
    {
      \"type\": \"relax.TensorStructInfo\",
      \"data\": {
        \"span\": 1,
        \"shape\": 5,
        \"dtype\": \"float32\",
        \"vdevice\": 1,
        \"ndim\": 1
      }
    },
    {
      \"type\": \"ffi.Tensor\",
      \"data\": \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQAIAAAAAAAAACAAAAAAAAAAeMzhP2jhzD6Tjno\\/y2oPQCQM7z\\/iLnq\\/\\/zhzP2L9Gr4=\"
    },
    {
      \"type\": \"relax.expr.Constant\",
      \"data\": {
        \"span\": 1,
        \"struct_info_\": 6,
        \"data\": 7
      }
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"int64\",
        \"value\": 8
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        9
      ]
    },
    {
      \"type\": \"relax.ShapeStructInfo\",
      \"data\": {
        \"span\": 1,
        \"values\": 10,
        \"ndim\": 1
      }
    },
    {
      \"type\": \"relax.expr.ShapeExpr\",
      \"data\": {
        \"span\": 1,
        \"struct_info_\": 11,
        \"values\": 10
      }
    },
    {
      \"type\": \"relax.TensorStructInfo\",
      \"data\": {
        \"span\": 1,
        \"shape\": 12,
        \"dtype\": \"float32\",
        \"vdevice\": 1,
        \"ndim\": 1
      }
    },
    {
      \"type\": \"ffi.Tensor\",
      \"data\": \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQAIAAAAAAAAACAAAAAAAAAAaGTTvfg50j4ogBM+oiW6P17TQj\\/AMPk9C0LjPl3Xqj4=\"
    },
    {
      \"type\": \"relax.expr.Constant\",
      \"data\": {
        \"span\": 1,
        \"struct_info_\": 13,
        \"data\": 14
      }
    },
    {
      \"type\": \"ir.IntImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"int64\",
        \"value\": 8
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        16
      ]
    },
    {
      \"type\": \"relax.ShapeStructInfo\",
      \"data\": {
        \"span\": 1,
        \"values\": 17,
        \"ndim\": 1
      }
    },
    {
      \"type\": \"relax.expr.ShapeExpr\",
      \"data\": {
        \"span\": 1,
        \"struct_info_\": 18,
        \"values\": 17
      }
    },
    {
      \"type\": \"relax.TensorStructInfo\",
      \"data\": {
        \"span\": 1,
        \"shape\": 19,
        \"dtype\": \"float32\",
        \"vdevice\": 1,
        \"ndim\": 1
      }
    },
    {
      \"type\": \"ffi.Tensor\",
      \"data\": \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQAIAAAAAAAAACAAAAAAAAAA\\/D2\\/PwIVUr5pSqA+BaZavy9kI8CMUyc\\/sUtdP4f+Pb8=\"
    },
    {
      \"type\": \"relax.expr.Constant\",
      \"data\": {
        \"span\": 1,
        \"struct_info_\": 20,
        \"data\": 21
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        8,
        15,
        22
      ]
    },
    {
      \"type\": \"ffi.Map\",
      \"data\": [
        0,
        23
      ]
    }
  ],
  \"metadata\": {
    \"tvm_version\": \"0.25.0\"
  }
}""")
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def forward(x: R.Tensor(("b", 8), dtype="float32")) -> R.Tensor(("b", 8), dtype="float32"):
        b = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            layer_norm: R.Tensor((b, 8), dtype="float32") = R.nn.layer_norm(x, metadata["relax.expr.Constant"][0], metadata["relax.expr.Constant"][1], axes=[-1], epsilon=1.0000000000000001e-05, center=True, scale=True)
            rms_norm: R.Tensor((b, 8), dtype="float32") = R.nn.rms_norm(layer_norm, metadata["relax.expr.Constant"][2], axes=[-1], epsilon=1.0000000000000001e-05)
            gv: R.Tensor((b, 8), dtype="float32") = rms_norm
            R.output(gv)
        return gv
