// tools/convert/number_formats.cpp - see number_formats.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "number_formats.hpp"

#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>

#include "glob.hpp"
#include "near_names.hpp"
#include "type_mix.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

// The formats of --type, as docs and --help list them.
constexpr dtype order[] = {dtype::f32,  dtype::f16,    dtype::bf16,    dtype::q8_0, dtype::q5_1,
                           dtype::q5_0, dtype::q4_1,   dtype::q4_0,    dtype::q6_k, dtype::q5_k,
                           dtype::q4_k, dtype::q8_128, dtype::bf16_a16};
static_assert([] {
  std::size_t written = 0;
  for (const core::dtype_info& d : core::dtype_table) written += weights::can_quantise(d.type) ? 1u : 0u;
  return written == std::size(order);
}());

bool whole_blocks(const imported_tensor& t, dtype format) {
  const std::size_t block = core::info(format).elements;
  return block != 0 && static_cast<std::size_t>(t.shape.back()) % block == 0;
}

std::string joined(const std::vector<std::string>& names, std::string_view between = ", ") {
  std::string all;
  for (const std::string& n : names) all.append(all.empty() ? std::string_view() : between).append(n);
  return all;
}

[[noreturn]] void refuse_glob(const imported_model& model, const type_of& e) {
  std::vector<std::string> products;
  for (const imported_tensor& t : model.tensors)
    if (t.product) products.push_back(t.name);
  fail({.where = model.where,
        .what = "--type-of " + weights::quoted(e.glob + "=" + std::string(core::info(e.type).name)) +
                ": no tensor has such a name",
        .hint = products.empty() ? "the model has no matrices whose format can be chosen"
                                 : "near names: " + joined(near_names(e.glob, products, 3))});
}

void check_exception(const imported_model& model, const imported_tensor& t, dtype format) {
  const std::string what = "tensor " + weights::quoted(t.name) + " cannot be " + std::string(core::info(format).name);
  if (!t.product && format != dtype::f32)
    fail({.where = model.where, .what = what, .hint = "it is no matrix of a product, and f32 in every file"});
  if (t.product && !whole_blocks(t, format))
    fail({.where = model.where,
          .what = what,
          .expected = "rows of a multiple of " + std::to_string(core::info(format).elements) + " values",
          .found = std::to_string(t.shape.back())});
}

}  // namespace

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const dtype t : order) names.emplace_back(core::info(t).name);
  names.emplace_back("q4_k_m");
  names.emplace_back("q5_k_m");
  return names;
}

format_choice parse_type(std::string_view name) {
  if (name == "q4_k_m") return {.type = dtype::q4_k, .mix = true};
  if (name == "q5_k_m") return {.type = dtype::q5_k, .mix = true};
  const auto format = core::find_dtype(name);
  if (!format || !weights::can_quantise(format->type))
    fail({.what = "number format " + weights::quoted(name) + " cannot be written",
          .expected = "one of " + joined(type_names())});
  return {.type = format->type};
}

type_of parse_type_of(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    fail({.what = "--type-of " + weights::quoted(text), .expected = "GLOB=TYPE, such as \"*.w_2.weight=q8_0\""});
  const format_choice choice = parse_type(text.substr(equals + 1));
  if (choice.mix) fail({.what = "--type-of " + weights::quoted(text) + ": a mix is no format of one tensor"});
  return {std::string(text.substr(0, equals)), *choice.type};
}

dtype packaged_format(const imported_tensor& t, std::optional<dtype> wanted) {
  if (!t.product) return dtype::f32;
  const dtype format = wanted.value_or(t.stored);
  const bool copied = !t.bytes.empty() && t.stored == format;  // else it must be made of values
  if (whole_blocks(t, format) && (copied || weights::can_quantise(format))) return format;
  // Rows that are no whole superblocks: the simple format that keeps about as much.
  const dtype simple = format == dtype::q4_k                              ? dtype::q5_0
                       : format == dtype::q5_k                            ? dtype::q5_1
                       : format == dtype::q6_k || format == dtype::q8_128 ? dtype::q8_0
                                                                          : format;
  return simple != format && whole_blocks(t, simple) ? simple : dtype::f16;
}

std::vector<dtype> packaged_formats(const imported_model& model, const format_choice& choice) {
  std::vector<dtype> mixed;
  if (choice.mix) mixed = mixed_types(model.tensors, *choice.type);
  std::vector<dtype> formats;
  for (std::size_t i = 0; i < model.tensors.size(); ++i)
    formats.push_back(packaged_format(model.tensors[i], choice.mix ? std::optional(mixed[i]) : choice.type));
  for (const type_of& e : choice.exceptions) {
    bool matched = false;
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
      if (!matches_glob(e.glob, model.tensors[i].name)) continue;
      check_exception(model, model.tensors[i], e.type);
      formats[i] = e.type;
      matched = true;
    }
    if (!matched) refuse_glob(model, e);
  }
  return formats;
}

}  // namespace STENO_ABI
}  // namespace steno
