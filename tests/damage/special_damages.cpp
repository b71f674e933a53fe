// Damages that need more than one place of a file, each of which once ended a process.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "damage/damages.hpp"

namespace steno::damage {
namespace {

// An output layer of its own with more rows than the embedding; the last row has the largest score or its negative.
void wider_output(gguf_parts& p, const std::string& embedding, const std::string& output, std::uint64_t rows) {
  const tensor_part* from = nullptr;
  for (const tensor_part& t : p.tensors)
    if (t.name == embedding) from = &t;
  if (from == nullptr) throw std::runtime_error("no tensor " + embedding);
  tensor_part wide{output, {from->dims.at(0), rows}, 1, std::string(from->dims.at(0) * rows * 2, '\0')};
  const std::uint16_t large = 0x5000, negative = 0xd000;
  for (std::size_t i = 0; i < from->dims[0]; ++i) {
    std::memcpy(wide.data.data() + wide.data.size() - (i + 1) * 2, &large, 2);
    std::memcpy(wide.data.data() + wide.data.size() - (i + 1 + from->dims[0]) * 2, &negative, 2);
  }
  p.tensors.erase(
      std::remove_if(p.tensors.begin(), p.tensors.end(), [&](const tensor_part& t) { return t.name == output; }),
      p.tensors.end());
  p.tensors.insert(p.tensors.begin(), std::move(wide));  // first: behind the embedding there is little to read
}

// Texts put before the list's own, so that whatever is looked up by its text has a larger id.
void shift_tokens(gguf_parts& p, std::uint64_t count) {
  key_part& k = p.key("tokenizer.ggml.tokens");
  std::string raw;
  for (std::uint64_t i = 0; i < count; ++i) raw += sized(std::string(1, '+') + std::to_string(i));
  const std::uint64_t had = weights::load_as<std::uint64_t>(reinterpret_cast<const std::byte*>(k.value.data()) + 4);
  k.value = k.value.substr(0, 4) + bytes_of(had + count) + raw + k.value.substr(12);
  for (key_part& types : p.keys) {
    if (types.name != "tokenizer.ggml.token_type") continue;
    const auto n = weights::load_as<std::uint64_t>(reinterpret_cast<const std::byte*>(types.value.data()) + 4);
    std::string ones;
    for (std::uint64_t i = 0; i < count; ++i) ones += bytes_of(std::int32_t{1});
    types.value = types.value.substr(0, 4) + bytes_of(n + count) + ones + types.value.substr(12);
  }
}

void all_matrices(gguf_parts& p, std::int32_t type, std::size_t bytes) {
  for (tensor_part& t : p.tensors) {
    if (t.dims.size() != 2) continue;
    t.type = type;
    t.data = std::string(t.dims[0] * t.dims[1] * bytes, '\x01');
  }
}

}  // namespace

std::vector<one_damage> special_damages(const std::string& model, const gguf_parts& parts) {
  std::vector<one_damage> all;
  const auto add = [&](const std::string& value, auto edit) {
    all.push_back({"gguf/" + model + "/special/" + value, "", value, [edit](const gguf_parts& from) {
                     gguf_parts p = from;
                     edit(p);
                     return p.bytes();
                   }});
  };
  const auto has_tensor = [&](const std::string& name) {
    return std::any_of(parts.tensors.begin(), parts.tensors.end(),
                       [&](const tensor_part& t) { return t.name == name; });
  };
  for (const auto& [embedding, output] :
       {std::pair<std::string, std::string>{"thinker.model.embed_tokens.weight", "thinker.lm_head.weight"},
        {"llm.model.embed_tokens.weight", "llm.lm_head.weight"}}) {
    if (!has_tensor(embedding)) continue;
    for (const std::uint64_t rows : {1000u, 100000u, 400000u})
      add("output-rows-" + std::to_string(rows), [=](gguf_parts& p) { wider_output(p, embedding, output, rows); });
  }
  if (parts.find_key("tokenizer.ggml.tokens") != nullptr)
    for (const std::uint64_t n : {1u, 1000u, 300000u})
      add("tokens+" + std::to_string(n), [n](gguf_parts& p) { shift_tokens(p, n); });
  add("matrices-i32", [](gguf_parts& p) { all_matrices(p, 26, 4); });
  add("matrices-i8", [](gguf_parts& p) { all_matrices(p, 24, 1); });
  add("matrices-f64", [](gguf_parts& p) { all_matrices(p, 28, 8); });
  add("no-tensors", [](gguf_parts& p) { p.tensors.clear(); });
  add("no-keys", [](gguf_parts& p) { p.keys.clear(); });
  add("more-tensors", [](gguf_parts& p) {
    for (int i = 0; i < 20000; ++i)
      p.tensors.push_back({std::string("more.") + std::to_string(i), {1}, 0, std::string(4, '\0')});
  });
  return all;
}

}  // namespace steno::damage
