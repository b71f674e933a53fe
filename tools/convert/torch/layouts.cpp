// tools/convert/torch/layouts.cpp - see layouts.hpp.
#include "torch/layouts.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace steno::inline STENO_ABI::torch {

std::vector<double> batch_norm::scale(checkpoint& c) const {
  std::vector<float> w(static_cast<std::size_t>(weight->count)), v(w.size());
  c.read(*weight, w);
  c.read(*variance, v);
  std::vector<double> s(w.size());
  for (std::size_t i = 0; i < s.size(); ++i)
    s[i] = static_cast<double>(w[i]) / std::sqrt(static_cast<double>(v[i]) + 1e-5);
  return s;
}

void read_laid_out(checkpoint& c, const checkpoint::entry* e, const laid_out_tensor& t,
                   const std::optional<batch_norm>& norm, std::span<float> out) {
  if (e != nullptr && (t.made == layout::same || (t.made == layout::taps_bias && !norm))) return c.read(*e, out);
  std::vector<float> values(out.size());
  if (e != nullptr) c.read(*e, values);
  const auto size = [&](std::size_t axis) { return static_cast<std::size_t>(t.shape[axis]); };
  if (t.made == layout::taps) {
    const std::size_t d = size(0), k = out.size() / d;
    const std::vector<double> scale = norm ? norm->scale(c) : std::vector<double>(d, 1.0);
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < k; ++j)
        out[j * d + i] = static_cast<float>(static_cast<double>(values[i * k + j]) * scale[i]);
  } else if (t.made == layout::taps_bias) {
    if (!norm) return void(std::copy(values.begin(), values.end(), out.begin()));
    const std::vector<double> scale = norm->scale(c);
    std::vector<float> mean(out.size()), shift(out.size());
    c.read(*norm->mean, mean);
    c.read(*norm->bias, shift);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>((static_cast<double>(values[i]) - static_cast<double>(mean[i])) * scale[i] +
                                  static_cast<double>(shift[i]));
  } else {  // swap the channel axis with what follows it
    const std::size_t rows = size(0);
    const std::size_t channels = t.made == layout::kernel ? size(1)
                                 : t.channels != 0        ? static_cast<std::size_t>(t.channels)
                                                          : rows;
    const std::size_t rest = out.size() / rows / channels;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < channels; ++i)
        for (std::size_t j = 0; j < rest; ++j)
          out[(r * rest + j) * channels + i] = values[(r * channels + i) * rest + j];
  }
}

inventory::inventory(const checkpoint& c) : checkpoint_(c) {
  for (const auto& e : c.tensors()) left_.emplace(e.name, &e);
}

const checkpoint::entry* inventory::take(const std::string& name, const std::vector<extent>& shape) {
  const auto found = left_.find(name);
  if (found == left_.end()) {
    note(steno::quoted(name) + " is missing");
    return nullptr;
  }
  const checkpoint::entry* e = found->second;
  left_.erase(found);
  bool same = e->shape.size() == shape.size();
  for (std::size_t i = 0; same && i < shape.size(); ++i) same = e->shape[i] == static_cast<std::uint64_t>(shape[i]);
  if (same) return e;
  std::string is, wanted;
  for (const auto n : e->shape) is.append(is.empty() ? "" : " x ").append(std::to_string(n));
  for (const auto n : shape) wanted.append(wanted.empty() ? "" : " x ").append(std::to_string(n));
  note(steno::quoted(name) + " is [" + is + "], not [" + wanted + "]");
  return nullptr;
}

namespace {
constexpr std::size_t most_notes = 8;
}

void inventory::finish(std::string_view described_by, std::span<const std::string_view> unused) {
  for (const auto& [name, e] : left_)
    if (std::none_of(unused.begin(), unused.end(), [&known = name](std::string_view u) {
          return known.ends_with(u) || known.find(std::string(u) + ".") != std::string::npos;
        }))
      note(steno::quoted(name) + " is not part of the model");
  if (count_ == 0) return;
  if (count_ > most_notes) problems_ += ", and " + std::to_string(count_ - most_notes) + " more";
  fail({.where = checkpoint_.where(),
        .what = "the tensors are not those that " + std::string(described_by) + " describes: " + problems_});
}

void inventory::note(const std::string& what) {
  if (++count_ <= most_notes) problems_.append(problems_.empty() ? "" : ", ").append(what);
}

void add_laid_out(imported_model& model, inventory& stock, checkpoint& weights, std::vector<laid_out_tensor> list,
                  const std::string& folded) {
  std::uint64_t total = 0;
  for (laid_out_tensor& t : list) {
    const bool depthwise = t.made == layout::taps || t.made == layout::taps_bias;
    const bool norm_follows = !folded.empty() && depthwise && t.name.find("depthwise_conv") != std::string::npos;
    const bool absent = t.made == layout::taps_bias && t.shape.empty();
    const auto* entry = absent ? nullptr : stock.take(t.name, t.shape);
    std::optional<batch_norm> norm;
    if (norm_follows) {
      const std::string at = t.name.substr(0, t.name.find("depthwise_conv")) + folded;
      const std::vector<extent> shape{t.packed.back()};
      // Both the taps and their bias need them; they are taken from the stock once.
      const auto find = [&](const char* part) {
        return t.made == layout::taps ? stock.take(at + part, shape) : weights.find(at + part);
      };
      norm = batch_norm{find("weight"), find("bias"), find("running_mean"), find("running_var")};
      if (!norm->complete()) continue;  // finish() reports it
    }
    if (entry == nullptr && !absent) continue;
    if (entry != nullptr) total += entry->count * size_of_scalar(entry->type);
    const scalar type = entry == nullptr ? scalar::f32 : entry->type;
    const dtype stored = type == scalar::f16 ? dtype::f16 : type == scalar::bf16 ? dtype::bf16 : dtype::f32;
    imported_tensor made{.name = t.packed_name.empty() ? t.name : t.packed_name,
                         .shape = t.packed,
                         .stored = stored,
                         .product = t.product};
    made.read = [c = &weights, entry, t, norm](std::span<float> out) { read_laid_out(*c, entry, t, norm, out); };
    model.tensors.push_back(std::move(made));
  }
  // Tensors may share a storage, but a file whose every tensor is all of it is no checkpoint.
  if (total / 4 > weights.size())
    fail({.where = model.where, .what = "the tensors claim far more than the file holds"});
}

}  // namespace steno::inline STENO_ABI::torch
