// tools/convert/funasr/tensors.cpp - see tensors.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/tensors.hpp"

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

void promise_sanm(checkpoint_tensors& from, const std::string& at, const sanm_settings& s) {
  const auto d = static_cast<extent>(s.output_size);
  from.sizes.push_back({at + "encoders0.0.norm1.weight", dynamic, static_cast<extent>(s.input)});
  from.sizes.push_back({at + "*.fsmn_block.weight", static_cast<extent>(s.kernel_size), d});
  from.sizes.push_back({at + "*.linear_out.weight", d, d});
  from.sizes.push_back({at + "*.w_1.weight", static_cast<extent>(s.linear_units), d});
  from.counts.push_back({at + "encoders", static_cast<extent>(s.num_blocks) - 1});
  from.counts.push_back({at + "tp_encoders", static_cast<extent>(s.tp_blocks)});
}

checkpoint_tensors published_tensors(gguf_file& file, std::uint32_t width) {
  checkpoint_tensors from = all_tensors(file);
  from.compared = checkpoint_tensors::shapes::taps_kept;
  const auto is_cmvn = [](const stored_tensor& t) { return t.name == "cmvn.shift" || t.name == "cmvn.scale"; };
  const auto usable = [&](const stored_tensor& t) {
    return is_cmvn(t) && t.shape == std::vector<extent>{static_cast<extent>(width)};
  };
  std::stable_partition(from.all.begin(), from.all.end(), [&](const stored_tensor& t) { return !is_cmvn(t); });
  if (std::count_if(from.all.begin(), from.all.end(), usable) != 2) std::erase_if(from.all, is_cmvn);
  return from;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
