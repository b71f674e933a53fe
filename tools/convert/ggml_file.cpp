// tools/convert/ggml_file.cpp - see ggml_file.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "ggml_file.hpp"

#include <steno/weights/blocks.hpp>

#include <string>

namespace steno {
inline namespace STENO_ABI {

std::uint32_t ggml_size(weights::byte_cursor& at, const char* what, std::int32_t min, std::int32_t max) {
  const auto n = at.number<std::int32_t>(what);
  if (n < min || n > max)
    at.stop(what, std::to_string(min).append(" to ").append(std::to_string(max)), std::to_string(n));
  return static_cast<std::uint32_t>(n);
}

namespace {

stored_tensor next_tensor(weights::byte_cursor& at, std::int32_t min, std::int32_t max) {
  const std::uint32_t rank = ggml_size(at, "number of dimensions", min, max);
  const std::uint32_t name_length = ggml_size(at, "length of a name", 1, 256);
  const auto type = at.number<std::int32_t>("format of a tensor");
  stored_tensor t;
  t.shape.resize(rank);
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < rank; ++i) {
    const std::uint32_t n = ggml_size(at, "a dimension", 1, 1 << 24);
    t.shape[rank - 1 - i] = n;
    if (!weights::checked_multiply(count, n, count)) at.stop("the dimensions of a tensor are too large");
  }
  if (rank == 0) t.shape.push_back(1);
  const auto name = at.take(name_length, "a name");
  t.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  const auto format = core::find_dtype(type);
  if (!format || format->type == dtype::i32)
    at.stop("tensor " + steno::weights::quoted(t.name) + ": format " + std::to_string(type) + " is not known");
  if (static_cast<std::uint64_t>(t.shape.back()) % format->elements != 0)
    at.stop("tensor " + steno::weights::quoted(t.name) + ": rows of " + std::to_string(t.shape.back()) +
            " are not whole blocks of " + std::string(format->name));
  std::uint64_t size = 0;
  if (!weights::checked_multiply(count / format->elements, format->bytes, size))
    at.stop("tensor " + steno::weights::quoted(t.name) + " is too large");
  t.stored = format->type;
  t.bytes = at.take(size, "the data of a tensor");
  t.read = [bytes = t.bytes, stored = t.stored](std::span<float> out) {
    weights::dequantise(stored, bytes.data(), out.data(), out.size());
  };
  return t;
}

}  // namespace

std::vector<stored_tensor> ggml_tensors(weights::byte_cursor& at, std::int32_t min_dimensions,
                                        std::int32_t max_dimensions, weights::mapped_file* file) {
  std::vector<stored_tensor> all;
  while (at.remaining() > 0) all.push_back(next_tensor(at, min_dimensions, max_dimensions));
  for (stored_tensor& t : all) t.file = file;
  return all;
}

}  // namespace STENO_ABI
}  // namespace steno
