// tools/convert/qwen/tensors.cpp - what Qwen3 models have, compared with a checkpoint and taken from it; see
// qwen3_asr.hpp.
#include <steno/error.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <cstring>
#include <map>

#include "qwen/qwen3_asr.hpp"

namespace steno::inline STENO_ABI::qwen {

namespace {

std::string shape_text(const std::vector<extent>& shape) {
  std::string s = "[";
  for (const extent n : shape) s.append(s.size() == 1 ? "" : " x ").append(std::to_string(n));
  return s.append("]");
}

// [out, in, band, time] -> [out, time, band, in]
void kernel_rows(std::span<float> values, const std::vector<extent>& shape) {
  const extent out = shape[0], in = shape[1], bands = shape[2], times = shape[3], size = in * bands * times;
  std::vector<float> row(static_cast<std::size_t>(size));
  for (extent o = 0; o < out; ++o) {
    float* const at = values.data() + o * size;
    for (extent i = 0; i < in; ++i)
      for (extent b = 0; b < bands; ++b)
        for (extent t = 0; t < times; ++t)
          row[static_cast<std::size_t>((t * bands + b) * in + i)] = at[(i * bands + b) * times + t];
    std::copy(row.begin(), row.end(), at);
  }
}

// [out, channel * band] -> [out, band * channel]
void bands_first(std::span<float> values, extent rows, extent channels) {
  const extent cols = static_cast<extent>(values.size()) / rows, bands = cols / channels;
  std::vector<float> row(static_cast<std::size_t>(cols));
  for (extent o = 0; o < rows; ++o) {
    float* const at = values.data() + o * cols;
    for (extent i = 0; i < channels; ++i)
      for (extent b = 0; b < bands; ++b) row[static_cast<std::size_t>(b * channels + i)] = at[i * bands + b];
    std::copy(row.begin(), row.end(), at);
  }
}

bool same_values(const stored_tensor& a, const stored_tensor& b) {
  if (a.shape != b.shape) return false;
  if (a.stored == b.stored && !a.bytes.empty() && a.bytes.size() == b.bytes.size())
    return std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
  std::vector<float> x(a.count()), y(b.count());
  a.read(x);
  b.read(y);
  return x == y;
}

}  // namespace

std::vector<expected_tensor> decoder_tensors(const decoder_settings& s, const std::string& prefix) {
  const auto d = static_cast<extent>(s.width), w = static_cast<extent>(s.head_width);
  const extent q = static_cast<extent>(s.heads) * w, k = static_cast<extent>(s.key_heads) * w;
  const auto units = static_cast<extent>(s.units);
  std::vector<expected_tensor> all;
  const auto matrix = [&](const std::string& name, extent out, extent in) { all.push_back({name, {out, in}, true}); };
  const auto vector = [&](const std::string& name, extent n) { all.push_back({name, {n}}); };
  matrix(prefix + "model.embed_tokens.weight", static_cast<extent>(s.vocabulary), d);
  for (std::uint32_t i = 0; i < s.layers; ++i) {
    const std::string at = prefix + "model.layers." + std::to_string(i);
    vector(at + ".input_layernorm.weight", d);
    matrix(at + ".self_attn.q_proj.weight", q, d);
    matrix(at + ".self_attn.k_proj.weight", k, d);
    matrix(at + ".self_attn.v_proj.weight", k, d);
    matrix(at + ".self_attn.o_proj.weight", d, q);
    vector(at + ".self_attn.q_norm.weight", w);
    vector(at + ".self_attn.k_norm.weight", w);
    vector(at + ".post_attention_layernorm.weight", d);
    matrix(at + ".mlp.gate_proj.weight", units, d);
    matrix(at + ".mlp.up_proj.weight", units, d);
    matrix(at + ".mlp.down_proj.weight", d, units);
  }
  vector(prefix + "model.norm.weight", d);
  matrix(prefix + "lm_head.weight", static_cast<extent>(s.outputs), d);
  return all;
}

void take_tensors(imported_model& model, const std::vector<expected_tensor>& expected,
                  std::vector<stored_tensor> tensors, const std::string& prefix, bool may_be_tied) {
  std::map<std::string, stored_tensor*> found;
  for (stored_tensor& t : tensors)
    if (!found.emplace(t.name, &t).second)
      fail({.where = model.where, .what = "tensor " + steno::quoted(t.name) + " is there twice"});
  const std::string head = prefix + "lm_head.weight", table = prefix + "model.embed_tokens.weight";
  const auto head_at = found.find(head), table_at = found.find(table);
  const bool tied = may_be_tied && (head_at == found.end() ||
                                    (table_at != found.end() && same_values(*head_at->second, *table_at->second)));
  std::string problems;
  std::size_t count = 0;
  const auto note = [&](const std::string& what) {
    if (++count <= 8) problems.append(problems.empty() ? "" : ", ").append(what);
  };
  for (const expected_tensor& e : expected) {
    const auto at = found.find(e.name);
    if (e.name == head && tied) {
      if (at != found.end()) found.erase(at);
      continue;
    }
    if (at == found.end()) {
      note(steno::quoted(e.name) + " is missing");
      continue;
    }
    const stored_tensor& t = *at->second;
    found.erase(at);
    if (t.shape != e.shape) {
      note(steno::quoted(e.name) + " is " + shape_text(t.shape) + ", not " + shape_text(e.shape));
      continue;
    }
    imported_tensor made{.name = e.name, .shape = e.shape, .stored = t.stored, .product = e.product};
    made.bytes = t.bytes;
    made.read = t.read;
    using layout = expected_tensor::layout;
    if (e.made != layout::same) made.bytes = {};
    if (e.made == layout::kernel) {
      made.shape = {e.shape[0], e.shape[1] * e.shape[2] * e.shape[3]};
      made.read = [read = t.read, shape = e.shape](std::span<float> values) {
        read(values);
        kernel_rows(values, shape);
      };
    } else if (e.made == layout::bands_first) {
      // The channels are those of the convolution before it.
      extent channels = 1;
      for (const expected_tensor& other : expected)
        if (other.name.ends_with("conv2d3.weight")) channels = other.shape[0];
      made.read = [read = t.read, rows = e.shape[0], channels](std::span<float> values) {
        read(values);
        bands_first(values, rows, channels);
      };
    }
    if (e.product && !kernels::has_product(made.stored)) {
      made.stored = dtype::f16;
      made.bytes = {};
    }
    model.tensors.push_back(std::move(made));
  }
  for (const auto& [name, t] : found) note(steno::quoted(name) + " is not part of the model");
  if (count > 8) problems += ", and " + std::to_string(count - 8) + " more";
  if (count > 0) fail({.where = model.where, .what = "the tensors are not those of the settings: " + problems});
}

bool is_product(const std::string& name, std::size_t rank) {
  return rank == 2 && name.ends_with(".weight") && name.find("conv2d1") == std::string::npos;
}

}  // namespace steno::inline STENO_ABI::qwen
