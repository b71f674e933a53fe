// tools/convert/funasr/tensors.hpp - what the settings of FunASR's models say of their tensors.
//
// Tested in tests/convert/funasr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "model_tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

/// Sizes of a stack of SAN-M blocks below `at` ("encoder."): the first reads `input` values.
struct sanm_settings {
  std::uint32_t input, output_size, linear_units, kernel_size, num_blocks, tp_blocks = 0;
};
void promise_sanm(checkpoint_tensors& from, const std::string& at, const sanm_settings& s);

/// A GGUF that FunASR publishes: depthwise kernels are as in packaged files. cmvn.* come last; unless both have `width`
/// values they are left out.
checkpoint_tensors published_tensors(gguf_file& file, std::uint32_t width);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
