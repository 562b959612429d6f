metadata = tvm.ir.load_json("""{
  \"root_index\": 41,
  \"nodes\": [
    {
      \"type\": \"ffi.String\",
      \"data\": \"tirx.StringImm\"
    },
    {
      \"type\": \"None\"
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \" when calling:\\n  `\"
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 2
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \"`,\\n  expected \"
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \"`,\\n  expected to be compact array\"
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 20
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \"`,\\n  expected non-NULL data pointer\"
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 22
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 20
      }
    },
    {
      \"type\": \"ffi.String\",
      \"data\": \"`,\\n  expected to match \"
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 25
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 22
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 20
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 25
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 22
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"tirx.StringImm\",
      \"data\": {
        \"span\": 1,
        \"dtype\": \"handle\",
        \"value\": 4
      }
    },
    {
      \"type\": \"ffi.Array\",
      \"data\": [
        3,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        15,
        16,
        17,
        18,
        19,
        21,
        23,
        24,
        26,
        27,
        28,
        29,
        30,
        31,
        32,
        33,
        34,
        35,
        36,
        37,
        38,
        39
      ]
    },
    {
      \"type\": \"ffi.Map\",
      \"data\": [
        0,
        40
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

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main_kernel(A_shared: T.handle("float32", "shared"), B: T.handle("float32", "global"), C: T.handle("float32", "global")):
        T.func_attr({"calling_conv": 2, "target": T.target({"arch": "sm_50", "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "", "thread_warp_size": 32}), "tirx.is_global_func": True, "tirx.kernel_launch_params": ["blockIdx.x", "threadIdx.x"], "tirx.noalias": True})
        B_1 = T.decl_buffer((256,), data=B)
        A_shared_1 = T.decl_buffer((256,), data=A_shared, scope="shared")
        C_1 = T.decl_buffer((256,), data=C)
        with T.launch_thread("blockIdx.x", 4) as blockIdx_x:
            threadIdx_x = T.launch_thread("threadIdx.x", 4)
            for j, k in T.grid(16, 16):
                cse_v2: T.let[T.int32] = blockIdx_x * 64 + threadIdx_x * 16
                cse_v3: T.let[T.int32] = cse_v2 + j
                if k == 0:
                    C_1[cse_v3] = T.float32(0.0)
                C_1[cse_v3] = C_1[cse_v3] + A_shared_1[cse_v2 + k] * B_1[k * 16 + j]

    @T.prim_func(s_tir=True)
    def main(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle("void", "global")) -> T.int32:
        T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_main", "target": T.target({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}), "tirx.is_entry_func": True, "tirx.noalias": True})
        assert num_args == 3, ("TypeError", ["Expected ", "3", " arguments", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", "`"])
        assert not T.isnullptr(args), ("TypeError", ["args pointer is NULL", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", "`"])
        var_A_type_index: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")
        assert var_A_type_index == 0 or var_A_type_index == 4 or var_A_type_index == 7 or var_A_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][1], "Tensor"])
        var_A: T.let[T.handle] = T.Select(var_A_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 0, 15, "handle"), 24), T.tvm_struct_get(args, 0, 15, "handle"))
        var_B_type_index: T.let[T.int32] = T.tvm_struct_get(args, 1, 13, "int32")
        assert var_B_type_index == 0 or var_B_type_index == 4 or var_B_type_index == 7 or var_B_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][2], "Tensor"])
        var_B: T.let[T.handle] = T.Select(var_B_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 1, 15, "handle"), 24), T.tvm_struct_get(args, 1, 15, "handle"))
        var_C_type_index: T.let[T.int32] = T.tvm_struct_get(args, 2, 13, "int32")
        assert var_C_type_index == 0 or var_C_type_index == 4 or var_C_type_index == 7 or var_C_type_index >= 64, ("TypeError", ["Mismatched type on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][3], "Tensor"])
        var_C: T.let[T.handle] = T.Select(var_C_type_index == 70, T.handle_add_byte_offset(T.tvm_struct_get(args, 2, 15, "handle"), 24), T.tvm_struct_get(args, 2, 15, "handle"))
        assert not T.isnullptr(var_A), ("TypeError", ["Mismatched type on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][4], "Tensor"])
        assert 2 == T.tvm_struct_get(var_A, 0, 4, "int32"), ("ValueError", ["Mismatched ", "A", ".ndim on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][5], "2"])
        assert T.tvm_struct_get(var_A, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(var_A, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(var_A, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "A", ".dtype on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][6], "float32"])
        main_var_A_shape: T.let[T.handle] = T.tvm_struct_get(var_A, 0, 2, "handle")
        main_var_A_strides: T.let[T.handle] = T.tvm_struct_get(var_A, 0, 3, "handle")
        assert T.tvm_struct_get(var_A, 0, 10, "int32") == 2, ("ValueError", ["Mismatched ", "A", ".device_type on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][7], "cuda"])
        dev_id: T.let[T.int32] = T.tvm_struct_get(var_A, 0, 9, "int32")
        A: T.let[T.handle("float32", "global")] = T.tvm_struct_get(var_A, 0, 1, "handle")
        with T.attr(A, "storage_alignment", 64):
            assert not T.isnullptr(var_B), ("TypeError", ["Mismatched type on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][8], "Tensor"])
            assert 2 == T.tvm_struct_get(var_B, 0, 4, "int32"), ("ValueError", ["Mismatched ", "B", ".ndim on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][9], "2"])
            assert T.tvm_struct_get(var_B, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(var_B, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(var_B, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "B", ".dtype on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][10], "float32"])
            main_var_B_shape: T.let[T.handle] = T.tvm_struct_get(var_B, 0, 2, "handle")
            main_var_B_strides: T.let[T.handle] = T.tvm_struct_get(var_B, 0, 3, "handle")
            assert T.tvm_struct_get(var_B, 0, 10, "int32") == 2, ("ValueError", ["Mismatched ", "B", ".device_type on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][11], "cuda"])
            B: T.let[T.handle("float32", "global")] = T.tvm_struct_get(var_B, 0, 1, "handle")
            with T.attr(B, "storage_alignment", 64):
                assert not T.isnullptr(var_C), ("TypeError", ["Mismatched type on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][12], "Tensor"])
                assert 2 == T.tvm_struct_get(var_C, 0, 4, "int32"), ("ValueError", ["Mismatched ", "C", ".ndim on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][13], "2"])
                assert T.tvm_struct_get(var_C, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(var_C, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(var_C, 0, 7, "uint16") == T.uint16(1), ("TypeError", ["Mismatched ", "C", ".dtype on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][14], "float32"])
                main_var_C_shape: T.let[T.handle] = T.tvm_struct_get(var_C, 0, 2, "handle")
                main_var_C_strides: T.let[T.handle] = T.tvm_struct_get(var_C, 0, 3, "handle")
                assert T.tvm_struct_get(var_C, 0, 10, "int32") == 2, ("ValueError", ["Mismatched ", "C", ".device_type on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][15], "cuda"])
                C: T.let[T.handle("float32", "global")] = T.tvm_struct_get(var_C, 0, 1, "handle")
                with T.attr(C, "storage_alignment", 64):
                    T.attr("default", "device_id", dev_id)
                    T.attr("default", "device_type", 2)
                    if not T.isnullptr(main_var_A_strides):
                        assert 1 == T.Cast("int32", T.tvm_struct_get(main_var_A_strides, 1, 17, "int64")) and 16 == T.Cast("int32", T.tvm_struct_get(main_var_A_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "A", ".strides on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][16]])
                    assert not T.isnullptr(A), ("ValueError", ["A", " data pointer is NULL on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][17]])
                    if not T.isnullptr(main_var_B_strides):
                        assert 1 == T.Cast("int32", T.tvm_struct_get(main_var_B_strides, 1, 17, "int64")) and 16 == T.Cast("int32", T.tvm_struct_get(main_var_B_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "B", ".strides on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][18]])
                    assert dev_id == T.tvm_struct_get(var_B, 0, 9, "int32"), ("ValueError", ["Mismatched ", "B.device_id", " on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][19], "A.device_id"])
                    assert not T.isnullptr(B), ("ValueError", ["B", " data pointer is NULL on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][20]])
                    if not T.isnullptr(main_var_C_strides):
                        assert 1 == T.Cast("int32", T.tvm_struct_get(main_var_C_strides, 1, 17, "int64")) and 16 == T.Cast("int32", T.tvm_struct_get(main_var_C_strides, 0, 17, "int64")), ("ValueError", ["Mismatched ", "C", ".strides on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][21]])
                    assert dev_id == T.tvm_struct_get(var_C, 0, 9, "int32"), ("ValueError", ["Mismatched ", "C.device_id", " on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][22], "A.device_id"])
                    assert not T.isnullptr(C), ("ValueError", ["C", " data pointer is NULL on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][23]])
                    assert T.Cast("int32", T.tvm_struct_get(main_var_A_shape, 0, 17, "int64")) == 16, ("ValueError", ["Invalid ", "A.shape[0]", " on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][24], "16"])
                    assert T.Cast("int32", T.tvm_struct_get(main_var_A_shape, 1, 17, "int64")) == 16, ("ValueError", ["Invalid ", "A.shape[1]", " on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][25], "16"])
                    assert T.uint64(0) == T.tvm_struct_get(var_A, 0, 8, "uint64"), ("ValueError", ["Invalid ", "A.byte_offset", " on argument #", "0", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][26], "0"])
                    assert T.Cast("int32", T.tvm_struct_get(main_var_B_shape, 0, 17, "int64")) == 16, ("ValueError", ["Invalid ", "B.shape[0]", " on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][27], "16"])
                    assert T.Cast("int32", T.tvm_struct_get(main_var_B_shape, 1, 17, "int64")) == 16, ("ValueError", ["Invalid ", "B.shape[1]", " on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][28], "16"])
                    assert T.uint64(0) == T.tvm_struct_get(var_B, 0, 8, "uint64"), ("ValueError", ["Invalid ", "B.byte_offset", " on argument #", "1", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][29], "0"])
                    assert T.Cast("int32", T.tvm_struct_get(main_var_C_shape, 0, 17, "int64")) == 16, ("ValueError", ["Invalid ", "C.shape[0]", " on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][30], "16"])
                    assert T.Cast("int32", T.tvm_struct_get(main_var_C_shape, 1, 17, "int64")) == 16, ("ValueError", ["Invalid ", "C.shape[1]", " on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][31], "16"])
                    assert T.uint64(0) == T.tvm_struct_get(var_C, 0, 8, "uint64"), ("ValueError", ["Invalid ", "C.byte_offset", " on argument #", "2", metadata["tirx.StringImm"][0], "main(A: Tensor([16, 16], float32), B: Tensor([16, 16], float32), C: Tensor([16, 16], float32))", metadata["tirx.StringImm"][32], "0"])
                    A_1 = T.decl_buffer((16, 16), data=A)
                    B_1 = T.decl_buffer((16, 16), data=B)
                    C_1 = T.decl_buffer((16, 16), data=C)
                    T.call_packed("__tvm_set_device", 2, dev_id)
                    with T.attr({"compute_scope": "main_compute_"}):
                        A_shared = T.alloc_shared((256,))
                        A_2 = A_1.view(256)
                        B_2 = B_1.view(256)
                        C_2 = C_1.view(256)
                        for ax0, ax1 in T.grid(16, 16):
                            cse_v1: T.let[T.int32] = ax0 * 16 + ax1
                            A_shared[cse_v1] = A_2[cse_v1]
                        T.call_packed("main_kernel", A_shared.data, B, C, 4, 4)
                    return 0
