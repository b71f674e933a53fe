// tools/trace/stages/qwen3.hpp - what the recorded cases of Qwen3-ASR and the forced aligner call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace steno::stages {

/// Empty for stages that the recordings have not.
inline std::string qwen3(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"logmel", "logmel"},
      {"audio_tower.conv3", "conv3_per_chunk"},
      {"audio_tower.conv_out", "conv_out_per_chunk"},
      {"audio_tower.encoder_in", "encoder_in"},
      {"audio_tower.out", "encoder_out"},
      {"text.in", "decoder_in"},
      {"text.norm", "decoder_norm_prefill"},
      {"text.logits", "logits"},
  };
  for (const auto& [from, to] : names)
    if (path == from) return std::string(to);
  const auto layer = [&](std::string_view before) -> std::string_view {
    if (!path.starts_with(before) || !path.ends_with(".out")) return {};
    return path.substr(before.size(), path.size() - before.size() - 4);
  };
  if (const auto n = layer("audio_tower.layers."); !n.empty()) return std::string("encoder_layer").append(n);
  if (const auto n = layer("text.layers."); !n.empty())
    return std::string("decoder_layer").append(n).append("_prefill");
  return {};
}

}  // namespace steno::stages
