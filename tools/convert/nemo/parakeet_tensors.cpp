// tools/convert/nemo/parakeet_tensors.cpp - the tensors of FastConformer models; see parakeet.hpp.
#include "nemo/parakeet.hpp"

namespace steno::inline STENO_ABI::nemo {

namespace {

using torch::laid_out_tensor;
using torch::layout;

class tensor_list {
 public:
  explicit tensor_list(const parakeet_settings& s) : s_(s), d_(static_cast<extent>(s.width)) {}

  void encoder() {
    const auto c = static_cast<extent>(s_.channels);
    const std::string pre = "encoder.pre_encode.";
    add({pre + "conv.0.weight", {c, 1, 3, 3}, {c, 9}});
    vector(pre + "conv.0.bias", c);
    for (const int i : {2, 5}) {
      const std::string depth = pre + "conv." + std::to_string(i), mix = pre + "conv." + std::to_string(i + 1);
      add({depth + ".weight", {c, 1, 3, 3}, {9, c}, false, layout::taps});
      vector(depth + ".bias", c);
      add({mix + ".weight", {c, c, 1, 1}, {c, c}, true});
      vector(mix + ".bias", c);
    }
    const extent flat = bands() * c;
    add({pre + "out.weight", {d_, flat}, {d_, flat}, true, layout::bands_first, c});
    vector(pre + "out.bias", d_);
    for (std::uint32_t i = 0; i < s_.blocks; ++i) block("encoder.layers." + std::to_string(i));
  }
  void linear(const std::string& name, extent out, extent in, bool bias = true) {
    add({name + ".weight", {out, in}, {out, in}, true});
    if (bias) vector(name + ".bias", out);
  }
  void ctc(const std::string& name) {
    const auto labels = static_cast<extent>(s_.vocabulary) + 1;
    add({name + ".decoder_layers.0.weight", {labels, d_, 1}, {labels, d_}, true});
    vector(name + ".decoder_layers.0.bias", labels);
  }
  void transducer() {
    const auto p = static_cast<extent>(s_.predictor), j = static_cast<extent>(s_.joint);
    const auto labels = static_cast<extent>(s_.vocabulary) + 1;
    add({"decoder.prediction.embed.weight", {labels, p}, {labels, p}});
    for (std::uint32_t i = 0; i < s_.predictor_layers; ++i) {
      const std::string at = "decoder.prediction.dec_rnn.lstm.", end = "_l" + std::to_string(i);
      for (const char* n : {"weight_ih", "weight_hh"}) add({at + n + end, {4 * p, p}, {4 * p, p}, true});
      for (const char* n : {"bias_ih", "bias_hh"}) vector(at + n + end, 4 * p);
    }
    linear("joint.pred", j, p);
    linear("joint.enc", j, d_);
    linear("joint.joint_net.2", labels + static_cast<extent>(s_.durations.size()), j);
  }

  std::vector<laid_out_tensor> all;

 private:
  extent bands() const {
    auto n = static_cast<extent>(s_.mels);
    for (int i = 0; i < 3; ++i) n = s_.causal_downsampling ? n / 2 + 1 : (n - 1) / 2 + 1;
    return n;
  }
  void add(laid_out_tensor t) { all.push_back(std::move(t)); }
  void vector(const std::string& name, extent n) { add({name, {n}, {n}}); }
  void norm(const std::string& name, extent n) {
    vector(name + ".weight", n);
    vector(name + ".bias", n);
  }
  void block(const std::string& at) {
    const auto units = static_cast<extent>(s_.units), taps = static_cast<extent>(s_.taps);
    const auto heads = static_cast<extent>(s_.heads);
    for (const char* n : {".norm_feed_forward1", ".norm_self_att", ".norm_conv", ".norm_feed_forward2", ".norm_out"})
      norm(at + n, d_);
    for (const char* n : {".feed_forward1", ".feed_forward2"}) {
      linear(at + n + ".linear1", units, d_, s_.bias);
      linear(at + n + ".linear2", d_, units, s_.bias);
    }
    const std::string attention = at + ".self_attn";
    for (const char* n : {".linear_q", ".linear_k", ".linear_v", ".linear_out"}) linear(attention + n, d_, d_, s_.bias);
    linear(attention + ".linear_pos", d_, d_, false);
    for (const char* n : {".pos_bias_u", ".pos_bias_v"}) add({attention + n, {heads, d_ / heads}, {d_}});
    const std::string conv = at + ".conv";
    add({conv + ".pointwise_conv1.weight", {2 * d_, d_, 1}, {2 * d_, d_}, true});
    if (s_.bias) vector(conv + ".pointwise_conv1.bias", 2 * d_);
    add({conv + ".depthwise_conv.weight", {d_, 1, taps}, {taps, d_}, false, layout::taps});
    const std::vector<extent> there = s_.bias ? std::vector<extent>{d_} : std::vector<extent>{};
    add({conv + ".depthwise_conv.bias", there, {d_}, false, layout::taps_bias});
    if (s_.layer_norm)  // the original calls it batch_norm all the same
      for (const char* n : {".weight", ".bias"})
        add({conv + ".batch_norm" + n, {d_}, {d_}, false, layout::same, 0, conv + ".norm" + n});
    add({conv + ".pointwise_conv2.weight", {d_, d_, 1}, {d_, d_}, true});
    if (s_.bias) vector(conv + ".pointwise_conv2.bias", d_);
  }

  const parakeet_settings& s_;
  extent d_;
};

}  // namespace

std::vector<torch::laid_out_tensor> parakeet_tensors(const parakeet_settings& s) {
  tensor_list list(s);
  list.encoder();
  if (s.transducer) list.transducer();
  if (!s.transducer || s.hybrid) list.ctc(s.transducer ? "ctc_decoder" : "decoder");
  return std::move(list.all);
}

bool is_parakeet_product(const std::string& name, std::size_t rank) {
  if (rank != 2) return false;
  if (name.find(".lstm.weight_") != std::string::npos) return true;
  return name.ends_with(".weight") && name.find("depthwise_conv") == std::string::npos &&
         !name.ends_with(".embed.weight") && name != "encoder.pre_encode.conv.0.weight" &&
         name != "encoder.pre_encode.conv.2.weight" && name != "encoder.pre_encode.conv.5.weight";
}

}  // namespace steno::inline STENO_ABI::nemo
