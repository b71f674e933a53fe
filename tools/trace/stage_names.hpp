// tools/trace/stage_names.hpp - what the recorded cases of the originals call the stages that a stack traces.
//
// A stack traces under its members' names ("encoders.3.self_attn"); a family's table (stages/) says which of them the
// original's recordings have, and under which name. '#' stands for a number, which '#' in the name repeats. Tested
// through tests/programs/steno_trace_test.cpp and tools/stage-hashes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace steno::stages {

/// A stage under both its names; '#' stands for a number.
struct stage_name {
  std::string_view path;  ///< under which a stack traces it, or the front or a part of that
  std::string_view name;  ///< what the recordings call it
};

namespace detail {
/// How much of `path` fits the beginning of a pattern's end: the number of characters, or npos. Numbers go to `found`.
inline std::size_t fits_stage(std::string_view path, std::string_view pattern, std::string& found) {
  std::size_t at = 0;
  for (const char p : pattern) {
    if (p == '#') {
      const std::size_t from = at;
      while (at < path.size() && path[at] >= '0' && path[at] <= '9') ++at;
      if (at == from) return std::string_view::npos;
      found.append(path.substr(from, at - from)).push_back('#');
    } else if (at == path.size() || path[at++] != p) {
      return std::string_view::npos;
    }
  }
  return at;
}
inline std::string stage_with_numbers(std::string_view name, std::string_view numbers) {
  std::string made;
  for (const char p : name) {
    if (p != '#') {
      made += p;
      continue;
    }
    const std::size_t end = numbers.find('#');
    made.append(numbers.substr(0, end));
    numbers.remove_prefix(end + 1);
  }
  return made;
}
}  // namespace detail

/// The name of the first entry that is the whole path, or empty.
inline std::string recorded_stage(std::string_view path, std::span<const stage_name> all) {
  for (const stage_name& s : all) {
    std::string numbers;
    if (detail::fits_stage(path, s.path, numbers) == path.size()) return detail::stage_with_numbers(s.name, numbers);
  }
  return {};
}

/// The same for blocks with equal parts: the name of a front and of the part behind it, or empty.
inline std::string recorded_stage(std::string_view path, std::span<const stage_name> fronts,
                                  std::span<const stage_name> parts) {
  for (const stage_name& f : fronts) {
    std::string numbers;
    const std::size_t length = detail::fits_stage(path, f.path, numbers);
    if (length == std::string_view::npos) continue;
    const std::string part = recorded_stage(path.substr(length), parts);
    if (!part.empty()) return detail::stage_with_numbers(f.name, numbers) + part;
  }
  return {};
}

/// The parts of a SAN-M block.
inline constexpr stage_name sanm_parts[] = {
    {"norm1", "norm1"},
    {"self_attn.qkv", "qkv"},
    {"self_attn.fsmn_conv", "fsmn_conv"},
    {"self_attn.attn_linear_out", "attn_linear_out"},
    {"self_attn", "self_attn"},
    {"norm2", "norm2"},
    {"feed_forward", "ffn"},
    {"out", "out"},
};

/// Those of a layer of Paraformer's decoder.
inline constexpr stage_name sanm_decoder_parts[] = {
    {"norm1", "norm1"},
    {"feed_forward.norm", "ffn_inner_norm"},
    {"feed_forward", "ffn"},
    {"norm2", "norm2"},
    {"fsmn_self_attn", "fsmn_self_attn"},
    {"norm3", "norm3"},
    {"src_attn.cross_q", "cross_q"},
    {"src_attn.cross_kv", "cross_kv"},
    {"src_attn", "src_attn"},
};

}  // namespace steno::stages
