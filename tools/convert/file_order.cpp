// tools/convert/file_order.cpp - see file_order.hpp.
#include "file_order.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace steno::inline STENO_ABI {

namespace {

// Members of one parent in the file's order, wherever all of them are; `below` is the parent's parent, if it matters.
struct siblings {
  std::string_view below;
  std::vector<std::string_view> order;
};
const siblings table[] = {
    {"", {"embed", "encoder", "ctc"}},                            // SenseVoice
    {"", {"ctc_decoder", "ctc"}},                                 // Fun-ASR-Nano
    {"blocks", {"self_attn", "feed_forward", "norm1", "norm2"}},  // its adaptors
    {"", {"linear_q_k_v", "fsmn_block", "linear_out"}},           // SAN-M
    {"",
     {"norm_ff_macaron", "norm_mha", "norm_conv", "norm_ff", "norm_final", "feed_forward_macaron", "self_attn",
      "conv_module", "feed_forward"}},                          // U2
    {"", {"embed", "after_norm", "output_layer", "decoders"}},  // its decoders
    {"",
     {"norm_feed_forward1", "norm_self_att", "norm_conv", "norm_feed_forward2", "norm_out", "feed_forward1",
      "feed_forward2", "self_attn", "conv"}},                                       // FastConformer
    {"", {"pred", "enc", "joint_net"}},                                             // transducers
    {"", {"layer_norm_1", "first_sub_layer", "layer_norm_2", "second_sub_layer"}},  // Sortformer
    {"", {"positional_embedding", "conv1", "conv2"}},                               // Whisper
    {"", {"positional_embedding", "token_embedding"}},
    {"", {"attn", "attn_ln", "mlp", "mlp_ln"}},
    {"", {"self_attn", "self_attn_layer_norm", "final_layer_norm"}},  // Qwen3-ASR
};

// Where a parent's members stand, by name.
using family = std::map<std::string_view, std::vector<std::size_t>>;

void arrange(std::vector<imported_tensor>& tensors, const siblings& s, const family& members) {
  std::vector<std::size_t> wanted;
  for (const std::string_view name : s.order) {
    const auto at = members.find(name);
    if (at == members.end()) return;
    wanted.insert(wanted.end(), at->second.begin(), at->second.end());
  }
  std::vector<std::size_t> places = wanted;
  std::sort(places.begin(), places.end());
  std::vector<imported_tensor> moved;
  for (const std::size_t i : wanted) moved.push_back(std::move(tensors[i]));
  for (std::size_t i = 0; i < places.size(); ++i) tensors[places[i]] = std::move(moved[i]);
}

}  // namespace

void put_in_file_order(std::vector<imported_tensor>& tensors) {
  for (const siblings& s : table) {
    std::vector<std::string> names;
    for (const imported_tensor& t : tensors) names.push_back(t.name + ".");
    std::map<std::string_view, family> parents;
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t from = 0, dot = names[i].find('.'); dot != std::string::npos;
           from = dot + 1, dot = names[i].find('.', from)) {
        const std::string_view name = names[i];
        parents[name.substr(0, from)][name.substr(from, dot - from)].push_back(i);
      }
    for (const auto& [parent, members] : parents) {
      const std::size_t end = parent.size() < 2 ? std::string_view::npos : parent.rfind('.', parent.size() - 2);
      const std::string_view above = end == std::string_view::npos ? "" : parent.substr(0, end);
      if (s.below.empty() || above == s.below || above.ends_with(std::string(".").append(s.below)))
        arrange(tensors, s, members);
    }
  }
}

}  // namespace steno::inline STENO_ABI
