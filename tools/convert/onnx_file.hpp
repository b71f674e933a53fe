// tools/convert/onnx_file.hpp - the constants of an ONNX file: initialisers and tensors of Constant nodes, of the graph
// and of the graphs in it.
//
// An ONNX file is a protobuf message. What is wanted of it are a handful of fields (model 7: graph; graph 1: nodes, 5:
// initialisers; node 2, 4, 5: outputs, operator, attributes; attribute 1, 5, 6, 11: name, tensor, graphs; tensor 1, 2,
// 4, 8, 9: dimensions, type, floats, name, bytes), which this reads itself: libprotobuf would want a copy of onnx.proto
// and generated code, and unpacks a whole file before anything of it can be refused. Graphs are not run. Tested in
// tests/convert/onnx_file_test.cpp, fuzzed by tests/fuzz/onnx_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "stored_tensor.hpp"

namespace steno {
inline namespace STENO_ABI {

/// All constants of floats (f32, f16, bf16, f64), under the names that the graphs' nodes call them by; numbers of other
/// kinds, which say shapes and axes, are left out. They show the file's bytes. Throws steno::error.
std::vector<stored_tensor> onnx_tensors(std::string_view where, std::span<const std::byte> bytes);

}  // namespace STENO_ABI
}  // namespace steno
