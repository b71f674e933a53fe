// tools/convert/package.cpp - see package.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "package.hpp"

#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {

namespace {

// general.file_type: llama.cpp's numbers for "mostly this format".
std::uint32_t file_type(dtype format) {
  switch (format) {
    case dtype::f16:
      return 1;
    case dtype::q4_0:
      return 2;
    case dtype::q4_1:
      return 3;
    case dtype::q8_0:
      return 7;
    case dtype::q5_0:
      return 8;
    case dtype::q5_1:
      return 9;
    case dtype::q2_k:
      return 10;
    case dtype::q3_k:
      return 12;
    case dtype::q4_k:
      return 15;
    case dtype::q5_k:
      return 17;
    case dtype::q6_k:
      return 18;
    case dtype::iq4_nl:
      return 25;
    case dtype::bf16:
      return 32;
    case dtype::q8_128:
    case dtype::bf16_a16:
      return static_cast<std::uint32_t>(format);  // llama.cpp has none
    default:
      return 0;
  }
}

// The format that most of the products' values have.
dtype main_format(const imported_model& model, const std::vector<dtype>& formats) {
  std::vector<std::pair<dtype, std::uint64_t>> counts;
  for (std::size_t n = 0; n < formats.size(); ++n) {
    if (!model.tensors[n].product) continue;
    auto i = counts.begin();
    while (i != counts.end() && i->first != formats[n]) ++i;
    if (i == counts.end()) i = counts.insert(i, {formats[n], 0});
    i->second += model.tensors[n].count();
  }
  std::pair<dtype, std::uint64_t> best{dtype::f32, 0};
  for (const auto& c : counts)
    if (c.second > best.second) best = c;
  return best.first;
}

// What normalises the features goes into every frame: one value that is not finite spoils all of them.
void check_normalisation(const imported_tensor& t, std::span<const float> values, const std::string& where) {
  if (!t.name.starts_with("cmvn.")) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      fail({.where = where,
            .what = "tensor " + steno::weights::quoted(t.name) + ": element " + std::to_string(i),
            .expected = "a finite number",
            .found = std::to_string(values[i])});
}

// Whether a format keeps all of these: f32 anything, f16 what does not round to infinity, the others what is finite.
bool holds_all(dtype format, std::span<const float> values) {
  if (format == dtype::f32) return true;
  const float bound = format == dtype::f16 ? 65520.0f : std::numeric_limits<float>::infinity();
  bool below = true;
  for (const float v : values) below &= std::fabs(v) < bound;
  return below;
}

void check_values(const imported_tensor& t, std::span<const float> values, dtype format, const std::string& where) {
  if (holds_all(format, values)) return;
  const auto lost = [&](const float& v) { return !holds_all(format, {&v, 1}); };
  fail({.where = where,
        .what = "tensor " + steno::weights::quoted(t.name) + " holds a value that " + weights::format_name(format) +
                " cannot hold",
        .found = std::to_string(*std::find_if(values.begin(), values.end(), lost)),
        .hint = "convert with --type f32"});
}

// The same of 16-bit floats that stay as they are stored.
void check_halves(const imported_tensor& t, std::span<const std::byte> halves, const std::string& where) {
  const unsigned exponent = t.stored == dtype::f16 ? 0x7c00 : 0x7f80;
  // Four at once: a full exponent carries into the sign.
  constexpr std::uint64_t each = 0x0001000100010001;
  const std::uint64_t exponents = exponent * each, lowest = (exponent & (0u - exponent)) * each, signs = 0x8000 * each;
  for (std::size_t at = 0; at + 2 <= halves.size(); at += 2) {
    for (std::uint64_t four; at + sizeof four <= halves.size(); at += sizeof four) {
      std::memcpy(&four, halves.data() + at, sizeof four);
      if ((((four & exponents) + lowest) & signs) != 0) break;
    }
    if (at + 2 > halves.size()) break;
    std::uint16_t h;
    std::memcpy(&h, halves.data() + at, sizeof h);
    if ((h & exponent) != exponent) continue;
    float v;
    weights::dequantise(t.stored, halves.data() + at, &v, 1);
    check_values(t, {&v, 1}, t.stored, where);
  }
}

constexpr std::size_t piece_values = std::size_t{1} << 20;  // values

bool is_as_stored(const imported_tensor& t, dtype format) {
  return !t.bytes.empty() && t.stored == format && !t.name.starts_with("cmvn.");
}

void fill(const imported_tensor& t, dtype format, const std::string& where, std::span<std::byte> out) {
  if (is_as_stored(t, format)) {
    std::memcpy(out.data(), t.bytes.data(), out.size());
    return;
  }
  if (t.write && t.stored == format) {
    t.write(out);
    if (format != dtype::f32) check_halves(t, out, where);
    return;
  }
  const auto count = static_cast<std::size_t>(t.count());
  // An embedding is a gigabyte: what is kept as it is read needs no copy, and what the source shows goes by in pieces.
  const bool in_place = format == dtype::f32 && reinterpret_cast<std::uintptr_t>(out.data()) % alignof(float) == 0;
  const std::size_t piece = in_place || t.bytes.empty() ? count : std::min(count, piece_values);
  std::vector<float> copy(in_place ? 0 : piece);
  for (std::size_t at = 0; at < count; at += piece) {
    const std::size_t n = std::min(piece, count - at);
    const std::span<float> values =
        in_place ? std::span(reinterpret_cast<float*>(out.data()), count) : std::span(copy).first(n);
    if (n == count)
      t.read(values);
    else
      weights::dequantise(t.stored, t.bytes.data() + core::bytes_of(t.stored, at), values.data(), n);
    check_normalisation(t, values, where);
    check_values(t, values, format, where);
    if (in_place) return;
    try {
      weights::quantise(format, values.data(), out.data() + core::bytes_of(format, at), n);
    } catch (const error& e) {  // a scale that the blocks' halves cannot hold
      core::fault named = e.parts();
      named.where = where;
      named.what = "tensor " + steno::weights::quoted(t.name) + ": " + named.what;
      fail(std::move(named));
    }
  }
}

// Whether its bytes can stay where they are.
bool can_be_lent(imported_tensor& t, dtype format) {
  if (t.bytes.empty() && t.show && t.stored == format && t.file != nullptr) t.bytes = t.show();
  return is_as_stored(t, format) && t.file != nullptr && t.file->holds(t.bytes) &&
         t.shape.size() <= weights::tensor_ref{}.shape.size();
}

weights::tensor_ref reference(const imported_tensor& t) {
  weights::tensor_ref r{.name = t.name, .format = t.stored, .rank = static_cast<int>(t.shape.size()), .bytes = t.bytes};
  std::copy(t.shape.begin(), t.shape.end(), r.shape.begin());
  return r;
}

void lend(const imported_tensor& t, std::vector<lent_tensors>& all) {
  auto of_file = std::find_if(all.begin(), all.end(), [&](const lent_tensors& l) { return l.file == t.file; });
  if (of_file == all.end()) of_file = all.insert(all.end(), {t.file, {}});
  of_file->tensors.push_back(reference(t));
}

void add(imported_model& model, const format_choice& choice, std::vector<lent_tensors>* lent) {
  const std::vector<dtype> formats = packaged_formats(model, choice);
  model.file.set("general.file_type", file_type(choice.type ? *choice.type : main_format(model, formats)));
  for (std::size_t i = 0; i < formats.size(); ++i) {
    imported_tensor& t = model.tensors[i];
    if (lent != nullptr && can_be_lent(t, formats[i])) {
      lend(t, *lent);
      continue;
    }
    model.file.add(t.name, formats[i], std::span<const extent>(t.shape),
                   [&t, format = formats[i], where = model.where](std::span<std::byte> out) {
                     fill(t, format, where, out);
                     if (t.file != nullptr) t.file->release(t.bytes);
                   });
  }
}

}  // namespace

void add_tensors(imported_model& model, const format_choice& choice) { add(model, choice, nullptr); }

std::vector<lent_tensors> add_changed_tensors(imported_model& model) {
  std::vector<lent_tensors> lent;
  add(model, {}, &lent);
  return lent;
}

}  // namespace STENO_ABI
}  // namespace steno
