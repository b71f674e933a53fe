// tools/convert/package.cpp - see package.hpp.
#include "package.hpp"

#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>

#include <cmath>
#include <cstring>
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
    default:
      return 0;
  }
}

// The format that most of the products' values have.
dtype main_format(const imported_model& model) {
  std::vector<std::pair<dtype, std::uint64_t>> counts;
  for (const imported_tensor& t : model.tensors) {
    if (!t.product) continue;
    const dtype format = packaged_format(t, {});
    auto i = counts.begin();
    while (i != counts.end() && i->first != format) ++i;
    if (i == counts.end()) i = counts.insert(i, {format, 0});
    i->second += t.count();
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

void fill(const imported_tensor& t, dtype format, const std::string& where, std::span<std::byte> out) {
  if (!t.bytes.empty() && t.stored == format && !t.name.starts_with("cmvn.")) {
    std::memcpy(out.data(), t.bytes.data(), out.size());
    return;
  }
  std::vector<float> values(static_cast<std::size_t>(t.count()));
  t.read(values);
  check_normalisation(t, values, where);
  for (const float v : values) {
    const bool lost = format == dtype::f16 && std::fabs(v) >= 65520.0f;  // rounds to infinity
    if (format == dtype::f32 || (std::isfinite(v) && !lost)) continue;
    fail({.where = where,
          .what = "tensor " + steno::weights::quoted(t.name) + " holds a value that " + weights::format_name(format) +
                  " cannot hold",
          .found = std::to_string(v),
          .hint = "convert with --type f32"});
  }
  try {
    weights::quantise(format, values.data(), out.data(), values.size());
  } catch (const error& e) {  // a scale that the blocks' halves cannot hold
    core::fault named = e.parts();
    named.where = where;
    named.what = "tensor " + steno::weights::quoted(t.name) + ": " + named.what;
    fail(std::move(named));
  }
}

}  // namespace

dtype packaged_format(const imported_tensor& t, std::optional<dtype> wanted) {
  if (!t.product) return dtype::f32;
  const dtype format = wanted.value_or(t.stored);
  const auto inner = static_cast<std::size_t>(t.shape.back());
  const bool copied = !t.bytes.empty() && t.stored == format;  // else it must be made of values
  if (inner % core::info(format).elements == 0 && (copied || weights::can_quantise(format))) return format;
  // Rows that are no whole superblocks: the simple format that keeps about as much.
  const dtype simple = format == dtype::q4_k ? dtype::q5_0 : format == dtype::q6_k ? dtype::q8_0 : format;
  return simple != format && inner % core::info(simple).elements == 0 ? simple : dtype::f16;
}

void add_tensors(imported_model& model, std::optional<dtype> wanted) {
  model.file.set("general.file_type", file_type(wanted ? *wanted : main_format(model)));
  for (const imported_tensor& t : model.tensors) {
    const dtype format = packaged_format(t, wanted);
    model.file.add(t.name, format, std::span<const extent>(t.shape),
                   [&t, format, where = model.where](std::span<std::byte> out) {
                     fill(t, format, where, out);
                     if (t.release) t.release();
                   });
  }
}

}  // namespace STENO_ABI
}  // namespace steno
