// tools/convert/safetensors.hpp - Hugging Face's safetensors files: named tensors behind a JSON header.
//
//   u64 length of the header, header {"name": {"dtype": "F16", "shape": [..], "data_offsets": [begin, end]}, ..}, data
//
// Offsets count from the end of the header; the tensors fill what is behind it without holes and without overlap. Every
// number is checked against the file; nothing is allocated by what a header claims. Tested in
// tests/convert/safetensors_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/mapped_file.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stored_tensor.hpp"

namespace steno {
inline namespace STENO_ABI {

/// Move-only; the tensors refer to it.
class safetensors_file {
 public:
  /// Throws steno::error when the file is not safetensors or damaged.
  explicit safetensors_file(const std::filesystem::path& path);
  /// The same from memory that outlives it.
  safetensors_file(std::span<const std::byte> bytes, std::string where);

  const std::vector<stored_tensor>& tensors() const noexcept { return tensors_; }

 private:
  struct place {
    std::uint64_t begin, end;  // bytes behind the header
    std::size_t tensor;
  };
  void parse(std::span<const std::byte> bytes);
  void check_places(std::vector<place>& places, std::uint64_t size) const;

  std::shared_ptr<weights::mapped_file> file_;  // null for memory
  std::string where_;
  std::vector<stored_tensor> tensors_;
};

}  // namespace STENO_ABI
}  // namespace steno
