// tools/convert/funasr/tensors.cpp - see tensors.hpp.
#include "funasr/tensors.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <map>

#include "funasr/am_mvn.hpp"
#include "torch/checkpoint.hpp"

namespace steno::inline STENO_ABI::funasr {

namespace {

std::string shape_text(const std::vector<extent>& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s.append(i == 0 ? "" : " x ").append(std::to_string(shape[i]));
  return s + "]";
}
dtype stored_format(torch::scalar type) {
  return type == torch::scalar::f16 ? dtype::f16 : type == torch::scalar::bf16 ? dtype::bf16 : dtype::f32;
}

void read_values(torch::checkpoint& c, const torch::checkpoint::entry& e, layout stored, std::span<float> out) {
  if (stored == layout::same) return c.read(e, out);
  std::vector<float> values(out.size());
  c.read(e, values);
  const std::size_t outputs = e.shape[0], inputs = e.shape[1], taps = e.shape[2];
  for (std::size_t o = 0; o < outputs; ++o)
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t k = 0; k < taps; ++k) {
        const std::size_t to = stored == layout::memory ? k * outputs + o : (o * taps + k) * inputs + i;
        out[to] = values[(o * inputs + i) * taps + k];
      }
}

}  // namespace

std::vector<extent> expected_tensor::packaged_shape() const {
  switch (stored) {
    case layout::memory:
      return {shape[2], shape[0]};
    case layout::convolution:
      return {shape[0], shape[1] * shape[2]};
    default:
      return shape;
  }
}

void tensor_list::linear(const std::string& name, extent out, extent in, bool bias) {
  all.push_back({.name = name + ".weight", .shape = {out, in}, .product = true});
  if (bias) all.push_back({.name = name + ".bias", .shape = {out}});
}
void tensor_list::norm(const std::string& name, extent n) {
  all.push_back({.name = name + ".weight", .shape = {n}});
  all.push_back({.name = name + ".bias", .shape = {n}});
}
void tensor_list::sanm_layer(const std::string& name, extent in, extent d, extent units, extent taps) {
  norm(name + ".norm1", in);
  linear(name + ".self_attn.linear_q_k_v", 3 * d, in);
  all.push_back({.name = name + ".self_attn.fsmn_block.weight", .shape = {d, 1, taps}, .stored = layout::memory});
  linear(name + ".self_attn.linear_out", d, d);
  norm(name + ".norm2", d);
  linear(name + ".feed_forward.w_1", units, d);
  linear(name + ".feed_forward.w_2", d, units);
}

void check_tensors(const std::vector<expected_tensor>& expected,
                   const std::vector<std::pair<std::string, std::vector<extent>>>& present, const std::string& where,
                   const char* model) {
  std::vector<std::string> problems;
  std::map<std::string_view, const std::vector<extent>*> there;
  for (const auto& [name, shape] : present) there.emplace(name, &shape);
  for (const expected_tensor& e : expected) {
    const auto found = there.find(e.name);
    if (found == there.end()) {
      problems.push_back(steno::quoted(e.name) + " is missing");
    } else {
      if (*found->second != e.shape)
        problems.push_back(steno::quoted(e.name) + " is " + shape_text(*found->second) + ", not " +
                           shape_text(e.shape));
      there.erase(found);
    }
  }
  for (const auto& [name, shape] : there) problems.push_back(steno::quoted(name) + " is not part of the model");
  if (problems.empty()) return;
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, problems.size()); ++i) text.append(i == 0 ? "" : ", ").append(problems[i]);
  if (problems.size() > most) text += ", and " + std::to_string(problems.size() - most) + " more";
  fail({.where = where, .what = std::string("the tensors are not those of a ") + model + " of this size: " + text});
}

void take_tensors(imported_model& model, const std::filesystem::path& file,
                  const std::vector<expected_tensor>& expected, const char* name,
                  const std::vector<std::string>& unused) {
  const auto weights = std::make_shared<torch::checkpoint>(file);
  std::vector<std::pair<std::string, std::vector<extent>>> present;
  for (const auto& e : weights->tensors()) {
    if (std::find(unused.begin(), unused.end(), e.name) != unused.end()) continue;
    std::vector<extent> shape;
    for (const std::uint64_t n : e.shape) shape.push_back(static_cast<extent>(n));
    present.emplace_back(e.name, std::move(shape));
  }
  check_tensors(expected, present, file.string(), name);
  model.where = file.string();
  model.source = weights;
  std::uint64_t total = 0;
  for (const expected_tensor& e : expected) {
    const torch::checkpoint::entry* entry = weights->find(e.name);
    imported_tensor t{
        .name = e.name, .shape = e.packaged_shape(), .stored = stored_format(entry->type), .product = e.product};
    t.read = [c = weights.get(), entry, stored = e.stored](std::span<float> out) {
      read_values(*c, *entry, stored, out);
    };
    total += entry->count * torch::size_of_scalar(entry->type);
    model.tensors.push_back(std::move(t));
  }
  // Tensors may share a storage, but a file whose every tensor is all of it is no checkpoint.
  if (total / 4 > weights->size())
    fail({.where = model.where, .what = "the tensors claim far more than the file holds"});
}

void add_cmvn(imported_model& model, const std::filesystem::path& path, std::size_t input_size) {
  am_mvn m = read_am_mvn(path.string());
  if (m.shift.size() != input_size)
    fail({.where = path.string(),
          .what = "length of the vectors",
          .expected = std::to_string(input_size) + " as the model's input",
          .found = std::to_string(m.shift.size())});
  std::erase_if(model.tensors, [](const imported_tensor& t) { return t.name.starts_with("cmvn."); });
  const auto add = [&](const char* name, std::vector<float> values) {
    const auto n = static_cast<extent>(values.size());
    model.tensors.push_back({.name = name, .shape = {n}, .read = [values = std::move(values)](std::span<float> out) {
                               std::copy(values.begin(), values.end(), out.begin());
                             }});
  };
  add("cmvn.shift", std::move(m.shift));
  add("cmvn.scale", std::move(m.scale));
}

}  // namespace steno::inline STENO_ABI::funasr
