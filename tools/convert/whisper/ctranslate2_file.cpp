// tools/convert/whisper/ctranslate2_file.cpp - see ctranslate2_file.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "whisper/ctranslate2_file.hpp"

#include <steno/core/half.hpp>
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace {

constexpr std::uint32_t binary_version = 6;
enum format : std::uint8_t { f32, i8, i16, i32, f16, bf16, formats };
constexpr std::size_t bytes_of_format[formats] = {4, 1, 2, 4, 2, 2};

float value_of(std::uint8_t type, const std::byte* p) {
  switch (type) {
    case i8:
      return static_cast<float>(weights::load_as<std::int8_t>(p));
    case i16:
      return static_cast<float>(weights::load_as<std::int16_t>(p));
    case i32:
      return static_cast<float>(weights::load_as<std::int32_t>(p));
    case f16:
      return core::half_to_float(weights::load_as<std::uint16_t>(p));
    case bf16:
      return core::bfloat_to_float(weights::load_as<std::uint16_t>(p));
    default:
      return weights::load_as<float>(p);
  }
}

std::string take_string(weights::byte_cursor& at, const char* what) {
  const auto length = at.number<std::uint16_t>(what);
  const auto bytes = at.take(length, what);
  if (bytes.empty() || bytes.back() != std::byte{0}) at.stop(std::string(what) + " does not end");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size() - 1};
}

}  // namespace

std::size_t ctranslate2_file::stored::count() const {
  std::size_t n = 1;
  for (const extent e : shape) n *= static_cast<std::size_t>(e);
  return n;
}

bool ctranslate2_file::begins(std::span<const std::byte> bytes) {
  // A small version, and a name that ends in "Spec".
  if (bytes.size() < 16 || weights::load_as<std::uint32_t>(bytes.data()) > 64) return false;
  const std::size_t length = weights::load_as<std::uint16_t>(bytes.data() + 4);
  if (length < 6 || length > 128 || bytes.size() < 6 + length) return false;
  const std::string_view name(reinterpret_cast<const char*>(bytes.data() + 6), length);
  return name.ends_with(std::string_view("Spec\0", 5));
}

ctranslate2_file::ctranslate2_file(std::span<const std::byte> bytes, std::string where) : where_(std::move(where)) {
  weights::byte_cursor at(where_, bytes);
  const auto version = at.number<std::uint32_t>("the version");
  if (version != binary_version)
    at.stop("version of CTranslate2's files", std::to_string(binary_version), std::to_string(version),
            "convert the model with ct2-transformers-converter of this year");
  specification_ = take_string(at, "the name of the specification");
  revision_ = at.number<std::uint32_t>("the revision");
  const auto number = at.number<std::uint32_t>("the number of variables");
  if (number > limits::tensors)
    at.stop("number of variables", "up to " + std::to_string(limits::tensors), std::to_string(number));
  for (std::uint32_t i = 0; i < number; ++i) {
    const std::string name = take_string(at, "the name of a variable");
    const auto refuse = [&](const std::string& what) {
      at.stop("variable " + steno::weights::quoted(name) + ": " + what);
    };
    stored v;
    const auto rank = at.number<std::uint8_t>("a rank");
    if (rank > limits::rank) refuse("it has " + std::to_string(rank) + " dimensions");
    std::uint64_t count = 1;
    for (std::uint8_t r = 0; r < rank; ++r) {
      const auto size = at.number<std::uint32_t>("a dimension");
      if (size == 0 || !weights::checked_multiply(count, size, count) || count > at.remaining())
        refuse("its shape is empty or too large");
      v.shape.push_back(static_cast<extent>(size));
    }
    v.format = at.number<std::uint8_t>("a format");
    if (v.format >= formats) refuse("format " + std::to_string(v.format) + " is not known");
    const auto size = at.number<std::uint32_t>("a size");
    if (size != count * bytes_of_format[v.format]) refuse("its size does not fit its shape");
    v.bytes = at.take(size, "the values of a variable");
    if (!variables_.emplace(name, std::move(v)).second) refuse("it is there twice");
  }
  const auto others = at.number<std::uint32_t>("the number of aliases");
  if (others > limits::tensors)
    at.stop("number of aliases", "up to " + std::to_string(limits::tensors), std::to_string(others));
  for (std::uint32_t i = 0; i < others; ++i) {
    std::string name = take_string(at, "an alias"), of = take_string(at, "what an alias stands for");
    if (!variables_.contains(of)) at.stop("alias " + steno::weights::quoted(name) + " stands for nothing");
    if (variables_.contains(name) || !aliases_.emplace(name, std::move(of)).second)
      at.stop("alias " + steno::weights::quoted(name) + " is there twice");
  }
  if (at.remaining() > 0) at.stop("there are bytes behind the end");
}

std::vector<std::string> ctranslate2_file::names() const {
  std::vector<std::string> all;
  for (const auto& [name, v] : variables_) all.push_back(name);
  for (const auto& [name, of] : aliases_) all.push_back(name);
  std::sort(all.begin(), all.end());
  return all;
}

const ctranslate2_file::stored* ctranslate2_file::variable(const std::string& name) const {
  const auto alias = aliases_.find(name);
  const auto found = variables_.find(alias == aliases_.end() ? name : alias->second);
  return found == variables_.end() ? nullptr : &found->second;
}

bool ctranslate2_file::is_scalar(const std::string& name) const {
  const stored* const v = variable(name);
  return v != nullptr && v->shape.empty();
}

double ctranslate2_file::scalar(const std::string& name) const {
  const stored* const v = variable(name);
  if (v == nullptr || v->count() != 1)
    fail({.where = where_,
          .what = "variable " + steno::weights::quoted(name),
          .expected = "a number",
          .found = v == nullptr ? "nothing" : std::to_string(v->count()) + " numbers"});
  return static_cast<double>(value_of(v->format, v->bytes.data()));
}

stored_tensor ctranslate2_file::tensor(const std::string& name) const {
  const stored* const v = variable(name);
  if (v == nullptr) fail({.where = where_, .what = "variable " + steno::weights::quoted(name) + " is missing"});
  stored_tensor t;
  t.name = name;
  t.shape = v->shape.empty() ? std::vector<extent>{1} : v->shape;
  // Aliases of matrices have their scales under the name of the matrix.
  const auto alias = aliases_.find(name);
  const std::string own = alias == aliases_.end() ? name : alias->second;
  const stored* scale = variable(own + "_scale");
  const bool integers = v->format == i8 || v->format == i16;
  if (integers != (scale != nullptr))
    fail({.where = where_,
          .what = "variable " + steno::weights::quoted(own) + (integers ? " has no scales" : " has scales")});
  if (!integers) {
    t.stored = v->format == f16 ? dtype::f16 : v->format == bf16 ? dtype::bf16 : dtype::f32;
    if (v->format != i32) t.bytes = v->bytes;
    t.read = [v = *v](std::span<float> out) {
      const std::size_t width = bytes_of_format[v.format];
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = value_of(v.format, v.bytes.data() + i * width);
    };
    return t;
  }
  const auto rows = static_cast<std::size_t>(t.shape[0]), cols = v->count() / rows;
  if (scale->format != f32 || (scale->count() != 1 && scale->count() != rows))
    fail(
        {.where = where_, .what = "scales of variable " + steno::weights::quoted(own), .expected = "one for each row"});
  t.stored = dtype::f16;
  t.read = [v = *v, scale = *scale, cols](std::span<float> out) {
    const std::size_t width = bytes_of_format[v.format];
    const bool one = scale.count() == 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const float s = weights::load_as<float>(scale.bytes.data() + (one ? 0 : i / cols * 4));
      out[i] = value_of(v.format, v.bytes.data() + i * width) / s;
    }
  };
  return t;
}

stored_tensor rows_of(const stored_tensor& t, std::string name, std::size_t first, std::size_t count) {
  stored_tensor part;
  part.name = std::move(name);
  part.shape = t.shape;
  part.shape[0] = static_cast<extent>(count);
  part.stored = t.stored;
  const std::size_t all = t.count(), rows = static_cast<std::size_t>(t.shape[0]), each = all / rows;
  if (!t.bytes.empty()) part.bytes = t.bytes.subspan(t.bytes.size() / rows * first, t.bytes.size() / rows * count);
  part.read = [read = t.read, all, from = first * each](std::span<float> out) {
    std::vector<float> values(all);
    read(values);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(from), out.size(), out.begin());
  };
  return part;
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
