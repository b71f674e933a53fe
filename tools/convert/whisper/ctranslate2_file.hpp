// tools/convert/whisper/ctranslate2_file.hpp - CTranslate2's model.bin: named variables one behind the other.
//
//   u32 version 6; string name of the specification; u32 its revision; u32 number of variables
//   a variable: string name; u8 rank; u32 dimensions, outermost first; u8 format; u32 bytes; values
//   u32 number of aliases; an alias: string name; string of the variable that it stands for
//   a string: u16 length, bytes, the last one 0
//
// Formats: 0 f32, 1 i8, 2 i16, 3 i32, 4 f16, 5 bf16. Integer matrices have scales: value = integer / NAME_scale of its
// row (i8) or of all (i16). Follows model_spec.py (OpenNMT/CTranslate2). Every number is checked against the file.
// Tested in tests/convert/ctranslate2_test.cpp, fuzzed by tests/fuzz/ctranslate2_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/mapped_file.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stored_tensor.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

/// The variables of a model.bin, which refer to its bytes.
class ctranslate2_file {
 public:
  /// True when the bytes begin as such a file does.
  static bool begins(std::span<const std::byte> bytes);

  /// `bytes` must outlive it and the tensors. Throws steno::error.
  ctranslate2_file(std::span<const std::byte> bytes, std::string where);

  const std::string& specification() const noexcept { return specification_; }  ///< "WhisperSpec"
  std::uint32_t revision() const noexcept { return revision_; }                 ///< of it
  /// Names of all variables and aliases, in order.
  std::vector<std::string> names() const;
  bool has(const std::string& name) const { return variables_.contains(name) || aliases_.contains(name); }
  /// Whether both names stand for one variable.
  bool same(const std::string& a, const std::string& b) const { return variable(a) == variable(b); }
  bool is_scalar(const std::string& name) const;
  /// A single value. Throws steno::error when it is missing or is no single one.
  double scalar(const std::string& name) const;
  /// Values as floats, with their scales; integers with scales are f16 as long as nothing else is wanted. Throws
  /// steno::error when it is missing.
  stored_tensor tensor(const std::string& name) const;

 private:
  struct stored {
    std::vector<extent> shape;
    std::uint8_t format = 0;
    std::span<const std::byte> bytes;
    std::size_t count() const;
  };
  const stored* variable(const std::string& name) const;

  std::string where_, specification_;
  std::uint32_t revision_ = 0;
  std::map<std::string, stored> variables_;
  std::map<std::string, std::string> aliases_;
};

/// Rows [first, first + count) of a matrix, or so many values of a vector.
stored_tensor rows_of(const stored_tensor& t, std::string name, std::size_t first, std::size_t count);

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
