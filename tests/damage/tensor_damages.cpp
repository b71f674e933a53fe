// Every kind of tensor with another type, other extents, another place, other values, another name, and without it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "damage/damages.hpp"

namespace steno::damage {
namespace {

// The tensor's bytes made as long as its dims and type ask for: cut, or repeated.
void fit(tensor_part& t) {
  std::uint64_t elements = 1;
  for (const std::uint64_t d : t.dims) elements *= d;
  const auto format = weights::find_ggml_type(t.type);
  if (!format || format->elements == 0) return;
  const std::size_t wanted = (elements + format->elements - 1) / format->elements * format->bytes, had = t.data.size();
  if (wanted > 64u << 20 || had == 0) return;
  std::string data;
  data.reserve(wanted + had);
  while (data.size() < wanted) data += t.data;
  data.resize(wanted);
  t.data = std::move(data);
}

// All bytes from one pattern; block formats begin with a scale of f16.
void fill(tensor_part& t, std::uint32_t f32, std::uint16_t f16, std::uint16_t bf16, char rest) {
  const auto put = [&](std::size_t at, auto v) { std::memcpy(t.data.data() + at, &v, sizeof v); };
  const auto format = weights::find_ggml_type(t.type);
  const std::string name(format ? format->name : "");
  const std::size_t n = t.data.size();
  if (name == "f32")
    for (std::size_t i = 0; i + 4 <= n; i += 4) put(i, f32);
  else if (name == "f16")
    for (std::size_t i = 0; i + 2 <= n; i += 2) put(i, f16);
  else if (name == "bf16")
    for (std::size_t i = 0; i + 2 <= n; i += 2) put(i, bf16);
  else {
    std::fill(t.data.begin(), t.data.end(), rest);
    if (format)
      for (std::size_t i = 0; i + format->bytes <= n; i += format->bytes) put(i, f16);
  }
}
void nan(tensor_part& t) { fill(t, 0x7fc00000u, 0x7e00, 0x7fc0, '\x01'); }
void infinite(tensor_part& t) { fill(t, 0x7f800000u, 0x7c00, 0x7f80, '\x01'); }
void largest(tensor_part& t) { fill(t, 0x7f7fffffu, 0x7bff, 0x7f7f, '\x7f'); }
void one_nan(tensor_part& t) {
  tensor_part bad = t;
  nan(bad);
  const auto format = weights::find_ggml_type(t.type);
  if (format)
    std::copy_n(bad.data.end() - std::ptrdiff_t(format->bytes), format->bytes,
                t.data.end() - std::ptrdiff_t(format->bytes));
}

using edit = std::function<void(gguf_parts&, std::size_t)>;
edit on_tensor(std::function<void(tensor_part&)> f) {
  return [f = std::move(f)](gguf_parts& p, std::size_t i) { f(p.tensors[i]); };
}
edit to_type(std::int32_t type) {
  return on_tensor([type](tensor_part& t) { t.type = type, fit(t); });
}
edit with_dims(std::function<void(std::vector<std::uint64_t>&)> f) {
  return on_tensor([f = std::move(f)](tensor_part& t) { f(t.dims), fit(t); });
}

const std::string clear_screen("\x1b[2J\nline\xc2\x9b", 12);

std::vector<std::pair<std::string, edit>> edits(const tensor_part& t) {
  using dims = std::vector<std::uint64_t>;
  std::vector<std::pair<std::string, edit>> out = {
      {"type-f32", to_type(0)},
      {"type-f16", to_type(1)},
      {"type-q4_0", to_type(2)},
      {"type-removed", to_type(4)},
      {"type-q8_0", to_type(8)},
      {"type-q8_1", to_type(9)},
      {"type-q4_k", to_type(12)},
      {"type-iq2_xxs", to_type(16)},
      {"type-i8", to_type(24)},
      {"type-i32", to_type(26)},
      {"type-f64", to_type(28)},
      {"type-bf16", to_type(30)},
      {"type-unknown", to_type(77)},
      {"type-negative", to_type(-1)},
      {"value-nan", on_tensor(nan)},
      {"value-one-nan", on_tensor(one_nan)},
      {"value-inf", on_tensor(infinite)},
      {"value-largest", on_tensor(largest)},
      {"value-zero", on_tensor([](tensor_part& p) { fill(p, 0, 0, 0, 0); })},
      {"value-ones", on_tensor([](tensor_part& p) { std::fill(p.data.begin(), p.data.end(), '\xff'); })},
      {"offset-shifted", on_tensor([](tensor_part& p) { p.offset = 32; })},
      {"offset-odd", on_tensor([](tensor_part& p) { p.offset = 1; })},
      {"offset-beyond", on_tensor([](tensor_part& p) { p.offset = 1ull << 40; })},
      {"offset-wraps", on_tensor([](tensor_part& p) { p.offset = ~0ull - 31; })},
      {"removed", [](gguf_parts& p, std::size_t i) { p.tensors.erase(p.tensors.begin() + std::ptrdiff_t(i)); }},
      {"again", [](gguf_parts& p, std::size_t i) { p.tensors.push_back(tensor_part(p.tensors[i])); }},
      {"renamed", on_tensor([](tensor_part& p) { p.name = p.name.substr(0, 50) + clear_screen; })},
      {"renamed-type-unknown",
       on_tensor([](tensor_part& p) { p.name = p.name.substr(0, 50) + clear_screen, p.type = 77; })},
      {"dims-none", with_dims([](dims& d) { d.clear(); })},
      {"dims-more", with_dims([](dims& d) { d.push_back(1); })},
      {"dims-five", with_dims([](dims& d) { d.resize(5, 1); })},
      {"dims-flat", with_dims([](dims& d) {
         std::uint64_t n = 1;
         for (auto x : d) n *= x;
         d = {n};
       })},
      {"dims-reversed", with_dims([](dims& d) { std::reverse(d.begin(), d.end()); })}};
  for (std::size_t i = 0; i < t.dims.size(); ++i) {
    const std::string place = "dim" + std::to_string(i) + "-";
    out.push_back({place + "zero", with_dims([i](dims& d) { d[i] = 0; })});
    out.push_back({place + "one", with_dims([i](dims& d) { d[i] = 1; })});
    out.push_back({place + "less", with_dims([i](dims& d) { d[i] -= 1; })});
    out.push_back({place + "more", with_dims([i](dims& d) { d[i] += 1; })});
    out.push_back({place + "double", with_dims([i](dims& d) { d[i] *= 2; })});
    out.push_back({place + "2^31", with_dims([i](dims& d) { d[i] = 1ull << 31; })});
    out.push_back({place + "2^62", with_dims([i](dims& d) { d[i] = 1ull << 62; })});
    out.push_back({place + "negative", with_dims([i](dims& d) { d[i] = ~0ull; })});
  }
  return out;
}

// Weight and bias of a layer with another number of outputs: they agree with each other, and with no neighbour.
std::vector<std::pair<std::string, edit>> edits_of_layer(const gguf_parts& parts, std::size_t weight) {
  const std::string& name = parts.tensors[weight].name;
  if (!name.ends_with(".weight")) return {};
  const std::string bias = name.substr(0, name.size() - 6) + "bias";
  const auto at = std::find_if(parts.tensors.begin(), parts.tensors.end(),
                               [&](const tensor_part& t) { return t.name == bias && t.dims.size() == 1; });
  if (at == parts.tensors.end()) return {};
  const auto both = [weight, other = std::size_t(at - parts.tensors.begin())](auto f) {
    return edit([=](gguf_parts& p, std::size_t) {
      for (const std::size_t i : {weight, other}) f(p.tensors[i].dims.back()), fit(p.tensors[i]);
    });
  };
  return {{"layer-double", both([](std::uint64_t& d) { d *= 2; })},
          {"layer-half", both([](std::uint64_t& d) { d = (d + 1) / 2; })},
          {"layer-one", both([](std::uint64_t& d) { d = 1; })}};
}

// Whether the edit leaves the tensor, alone in a file, as it is.
bool changes_nothing(const edit& change, const tensor_part& t) {
  gguf_parts alone;
  alone.tensors.push_back(t);
  change(alone, 0);
  return alone.tensors.size() == 1 && alone.tensors[0] == t;
}

}  // namespace

std::vector<one_damage> tensor_damages(const std::string& model, const gguf_parts& parts, bool every_layer) {
  std::vector<one_damage> all;
  std::set<std::string> kinds;
  for (std::size_t i = 0; i < parts.tensors.size(); ++i) {
    const tensor_part& t = parts.tensors[i];
    if (!every_layer && !kinds.insert(without_numbers(t.name)).second) continue;
    std::vector<std::pair<std::string, edit>> some = edits(t);
    std::erase_if(some, [&](const auto& e) { return changes_nothing(e.second, t); });  // a square matrix reversed
    for (auto& e : edits_of_layer(parts, i)) some.push_back(std::move(e));
    for (auto& [value, change] : some) {
      all.push_back({"gguf/" + model + "/tensor/" + t.name + "/" + value, t.name, value,
                     [i, change = change](const gguf_parts& from) {
                       gguf_parts p = from;
                       change(p, i);
                       return p.bytes();
                     }});
    }
  }
  return all;
}

}  // namespace steno::damage
