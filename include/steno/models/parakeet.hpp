// steno/models/parakeet.hpp - what the FastConformer models of NeMo share: front end, encoder, tokenizer, windows.
//
//   features = per_feature_norm(log_mel(pcm))   [T, mels]
//   rows     = encoder(features)                [T / 8, D]
//
// Follows `ASRModule` preprocessing and `ConformerEncoder` as `transcribe()` calls them; heads are parakeet_ctc.hpp and
// parakeet_transducer.hpp. What is kept and what differs: docs/models/parakeet.md. Tested in
// tests/parity/parakeet_test.cpp.
#pragma once
#include <steno/core/result.hpp>
#include <steno/decoders/ctc_greedy.hpp>
#include <steno/frontends/nemo_mel.hpp>
#include <steno/frontends/per_feature_norm.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/tokenizers/nemo_words.hpp>
#include <steno/tokenizers/sentencepiece.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno::inline STENO_ABI {

template <extent Mels = dynamic>
using nemo_frontend = frontend_chain<nemo_mel<Mels>, per_feature_norm<Mels>>;

/// Front end from `prefix`.frontend.*. Throws steno::error.
template <extent Mels>
STENO_COLD nemo_frontend<Mels> read_nemo_frontend(const gguf_file& file, std::string_view prefix) {
  const std::string at = std::string(prefix) + ".frontend.";
  const auto size = [&](const char* key, double least, double most, double otherwise) {
    return static_cast<extent>(read_number(file, at + key, least, most, otherwise));
  };
  nemo_mel_options o;
  o.sample_rate = read_number(file, at + "sample_rate", 16000, 16000, 16000);
  o.window = size("window", 2, 65536, 400);
  o.shift = size("shift", 1, 65536, 160);
  o.fft_size = size("fft_size", 16, 65536, 512);
  o.mels = size("n_mels", 8, 1024, 80);
  const bool normalised = read_number(file, at + "per_feature", 0, 1, 1) != 0;
  return {nemo_mel<Mels>(o), per_feature_norm<Mels>(o.mels, normalised)};
}

/// What a row sees of a whole clip, from `prefix`.encoder.attention_*. Throws steno::error.
STENO_COLD inline attention_window read_nemo_window(const gguf_file& file, std::string_view prefix) {
  const std::string at = std::string(prefix) + ".encoder.attention_";
  const auto size = [&](const char* key) { return static_cast<extent>(read_number(file, at + key, -1, 1 << 20, -1)); };
  const extent left = size("left"), right = size("right");
  if (read_number(file, at + "chunked", 0, 1, 0) == 0) return {.back = left, .ahead = right};
  if (right < 0) fail({.where = file.where(), .what = "key \"" + at + "right\"", .expected = "at least 0"});
  return {.chunk = right + 1, .left = left < 0 ? -1 : left / (right + 1)};
}

/// The part below the heads. A loaded model is const and may be shared by threads, each with its own context.
template <class Encoder, class Frontend, class Kind>
class parakeet {
 public:
  static constexpr std::string_view architecture = Kind::architecture;
  static constexpr int sample_rate = 16000;
  using encoder_type = Encoder;

  parakeet() = default;
  STENO_COLD explicit parakeet(const gguf_file& file)
      : frontend(read_nemo_frontend<Frontend::output>(file, architecture)), tokenizer(read_sentencepiece(file)) {
    encoder.window = read_nemo_window(file, architecture);
  }

  Frontend frontend;
  Encoder encoder;
  sentencepiece tokenizer;
  model_memory memory;

  void members(auto&& v) {
    v("encoder", encoder);
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
  }
  static std::vector<std::string> languages() { return {}; }

  int blank() const noexcept { return tokenizer.size(); }
  /// Encoder rows of `count` samples.
  extent frames(extent count) const noexcept { return encoder.rows(frontend.rows(count)); }
  extent samples_per_row() const noexcept { return frontend.head.options().shift * encoder.pre_encode.rate; }
  /// Seconds from one encoder row to the next.
  double frame_seconds() const noexcept { return static_cast<double>(samples_per_row()) / sample_rate; }

  /// 16 kHz mono samples in [-1, 1] -> encoder rows [frames(number of samples), D].
  void encode(std::span<const float> pcm, view<float, dynamic, Encoder::output> y, context& c) const noexcept {
    workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, Encoder::input>(frontend.rows(static_cast<extent>(pcm.size())),
                                                              frontend.width());
    frontend(pcm, x, c);
    if (c.tracing()) show(read(x), c);
    auto s = c.enter("encoder");
    encoder(x, y, c);
  }

  /// The frames of CTC's tokens as the original gives them: from the frame of the token before to its own first frame;
  /// a punctuation mark ends where it starts.
  STENO_COLD std::vector<placed_token> place_ctc(const nemo_words& words, std::span<const ctc_token> tokens) const {
    std::vector<placed_token> all;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const extent start = i > 0 ? tokens[i - 1].start : std::max<extent>(0, tokens[i].start - 1);
      all.push_back({tokens[i].id, start, tokens[i].start});
      if (i > 0 && words.begins_with_mark(tokenizer.decode(std::span(&tokens[i].id, 1)))) all.back().end = start;
    }
    return all;
  }

  /// Text and words of `s` from tokens with frames and log-probabilities. Empty words are left out.
  STENO_COLD void write_text(const nemo_words& words, std::span<const placed_token> tokens,
                             std::span<const float> log_probabilities, segment& s) const {
    s.text = words.text(tokenizer, s.token_ids);
    for (placed_text& w : words.words(tokenizer, tokens)) {
      if (w.text.empty()) continue;
      double sum = 0;
      for (std::size_t i = w.first; i < w.last; ++i) sum += static_cast<double>(log_probabilities[i]);
      s.words.push_back({.text = std::move(w.text),
                         .start = static_cast<double>(w.start) * frame_seconds(),
                         .end = static_cast<double>(w.end) * frame_seconds(),
                         .confidence = static_cast<float>(std::exp(sum / static_cast<double>(w.last - w.first))),
                         .how = timing::native});
    }
  }

  /// The golden cases' name of a traced stage: "encoder.layer.0.attn" is layer0_self_attn there. Empty for stages the
  /// original has not.
  STENO_COLD static std::string trace_name(std::string_view path) {
    if (path == "log_mel" || path == "features" || path.starts_with("step.")) return "";
    if (path.starts_with("encoder.")) path.remove_prefix(8);
    std::string name(path);
    if (name.starts_with("layer.")) name.erase(5, 1);
    std::replace(name.begin(), name.end(), '.', '_');
    if (!name.starts_with("layer")) return name;
    constexpr std::pair<std::string_view, std::string_view> parts[] = {
        {"_macaron", "_feed_forward1"}, {"_attn", "_self_attn"}, {"_ff", "_feed_forward2"}};
    for (const auto& [ours, theirs] : parts)
      if (name.ends_with(ours)) return name.replace(name.size() - ours.size(), ours.size(), theirs);
    return name;
  }

 private:
  // As the original has it: [mels, frames], with the frame it declares invalid and sets to zero.
  void show(const view<const float>& x, context& c) const noexcept {
    workspace::frame scratch(c.scratch);
    auto turned = scratch.matrix(x.cols(), x.rows() + 1);
    turned.leftCols(x.rows()) = x.transpose();
    turned.col(x.rows()).setZero();
    c.trace("logmel", turned);
  }
};

}  // namespace steno::inline STENO_ABI
