// tools/convert/wenet/u2_tensors.cpp - the tensors of U2 models; see u2.hpp.
#include <string_view>

#include "wenet/u2.hpp"

namespace steno::inline STENO_ABI::wenet {

namespace {

class tensor_list {
 public:
  explicit tensor_list(const u2_settings& s) : s_(s), d_(static_cast<extent>(s.width)) {}

  void encoder() {
    const extent conv = 3 * 3;
    add({"encoder.embed.conv.0.weight", {d_, 1, 3, 3}, {d_, conv}, false, layout::kernel});
    vector("encoder.embed.conv.0.bias", d_);
    const extent k = s_.rate == 6 ? 5 : 3;
    add({"encoder.embed.conv.2.weight", {d_, d_, k, k}, {d_, k * k * d_}, true, layout::kernel});
    vector("encoder.embed.conv.2.bias", d_);
    if (s_.rate == 8) {
      add({"encoder.embed.conv.4.weight", {d_, d_, 3, 3}, {d_, conv * d_}, true, layout::kernel});
      vector("encoder.embed.conv.4.bias", d_);
    }
    const std::string out = s_.rate == 4 ? "encoder.embed.out.0" : "encoder.embed.linear";
    const extent flat = bands() * d_;
    add({out + ".weight", {d_, flat}, {d_, flat}, true, layout::bands_first});
    vector(out + ".bias", d_);
    for (std::uint32_t i = 0; i < s_.blocks; ++i) {
      const std::string at = "encoder.encoders." + std::to_string(i);
      s_.conformer ? conformer_block(at) : transformer_block(at);
    }
    norm("encoder.after_norm", d_);
  }

  void decoder(const std::string& at, std::uint32_t blocks) {
    const auto v = static_cast<extent>(s_.vocabulary), units = static_cast<extent>(s_.decoder_units);
    add({at + ".embed.0.weight", {v, d_}, {v, d_}});
    norm(at + ".after_norm", d_);
    linear(at + ".output_layer", v, d_);
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const std::string block = at + ".decoders." + std::to_string(i);
      for (const char* n : {".norm1", ".norm2", ".norm3"}) norm(block + n, d_);
      attention(block + ".self_attn");
      attention(block + ".src_attn");
      feed_forward(block + ".feed_forward", units);
    }
  }
  void linear(const std::string& name, extent out, extent in) {
    add({name + ".weight", {out, in}, {out, in}, true});
    vector(name + ".bias", out);
  }

  std::vector<u2_tensor> all;

 private:
  extent bands() const {
    auto n = static_cast<extent>(s_.mels);
    n = (n - 1) / 2;
    if (s_.rate == 6) return (n - 2) / 3;
    n = (n - 1) / 2;
    return s_.rate == 8 ? (n - 1) / 2 : n;
  }
  void add(u2_tensor t) { all.push_back(std::move(t)); }
  void vector(const std::string& name, extent n) { add({name, {n}, {n}}); }
  void norm(const std::string& name, extent n) {
    vector(name + ".weight", n);
    vector(name + ".bias", n);
  }
  void feed_forward(const std::string& name, extent units) {
    linear(name + ".w_1", units, d_);
    linear(name + ".w_2", d_, units);
  }
  void attention(const std::string& name) {
    for (const char* part : {".linear_q", ".linear_k", ".linear_v", ".linear_out"}) linear(name + part, d_, d_);
  }
  void encoder_attention(const std::string& name) {
    attention(name);
    if (!s_.relative) return;
    add({name + ".linear_pos.weight", {d_, d_}, {d_, d_}, true});
    const auto heads = static_cast<extent>(s_.heads);
    for (const char* part : {".pos_bias_u", ".pos_bias_v"}) add({name + part, {heads, d_ / heads}, {d_}});
  }
  void transformer_block(const std::string& at) {
    norm(at + ".norm1", d_);
    encoder_attention(at + ".self_attn");
    norm(at + ".norm2", d_);
    feed_forward(at + ".feed_forward", static_cast<extent>(s_.units));
  }
  void conformer_block(const std::string& at) {
    const auto units = static_cast<extent>(s_.units), taps = static_cast<extent>(s_.taps);
    for (const char* n : {".norm_ff_macaron", ".norm_mha", ".norm_conv", ".norm_ff", ".norm_final"}) norm(at + n, d_);
    feed_forward(at + ".feed_forward_macaron", units);
    encoder_attention(at + ".self_attn");
    const std::string conv = at + ".conv_module";
    add({conv + ".pointwise_conv1.weight", {2 * d_, d_, 1}, {2 * d_, d_}, true});
    vector(conv + ".pointwise_conv1.bias", 2 * d_);
    add({conv + ".depthwise_conv.weight", {d_, 1, taps}, {taps, d_}, false, layout::taps});
    add({conv + ".depthwise_conv.bias", {d_}, {d_}, false, layout::taps_bias});
    if (!s_.batch_norm) norm(conv + ".norm", d_);
    add({conv + ".pointwise_conv2.weight", {d_, d_, 1}, {d_, d_}, true});
    vector(conv + ".pointwise_conv2.bias", d_);
    feed_forward(at + ".feed_forward", units);
  }

  const u2_settings& s_;
  extent d_;
};

}  // namespace

std::vector<u2_tensor> u2_tensors(const u2_settings& s) {
  tensor_list list(s);
  list.encoder();
  list.linear("ctc.ctc_lo", static_cast<extent>(s.vocabulary), static_cast<extent>(s.width));
  if (s.bidirectional) {
    list.decoder("decoder.left_decoder", s.decoder_blocks);
    list.decoder("decoder.right_decoder", s.reverse_blocks);
  } else {
    list.decoder("decoder", s.decoder_blocks);
  }
  return std::move(list.all);
}

bool is_u2_product(const std::string& name, std::size_t rank) {
  return rank == 2 && name.ends_with(".weight") && name.find("depthwise_conv") == std::string::npos &&
         !name.ends_with(".embed.conv.0.weight") && !name.ends_with(".embed.0.weight");
}

}  // namespace steno::inline STENO_ABI::wenet
