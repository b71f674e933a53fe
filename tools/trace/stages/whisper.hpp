// tools/trace/stages/whisper.hpp - what the recorded cases of Whisper call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace steno::stages {

/// Empty for stages that the recordings have not.
inline std::string whisper(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"encoder.conv1", "conv1_gelu"}, {"encoder.conv2", "conv2_gelu"}, {"encoder.positional_embedding", "enc_embed"},
      {"encoder.ln_post", "enc_out"},  {"decoder.ln", "dec_ln_prompt"}, {"decoder.logits", "logits_prompt"},
  };
  for (const auto& [from, to] : names)
    if (path == from) return std::string(to);
  constexpr std::string_view blocks = ".blocks.";
  const std::size_t at = path.find(blocks);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = path.substr(at + blocks.size());
  const std::size_t dot = rest.find('.');
  const std::string_view what = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
  std::string name = path.starts_with("encoder") ? "enc_layer" : "dec_layer";
  name.append(rest.substr(0, dot));
  if (what == "cross_attn.key") return name + "_cross_k";
  if (what == "cross_attn.value") return name + "_cross_v";
  if (what == "out") return path.starts_with("encoder") ? name : name + "_prompt";
  return {};
}

}  // namespace steno::stages
