// steno/models/parakeet_ctc.hpp - Parakeet CTC: FastConformer and one projection.
//
//   scores = log_softmax(decoder_layers.0(rows))   [T / 8, pieces + 1], blank last;  ids = best path
//
// NeMo `EncDecCTCModelBPE`, `ConvASRDecoder` (its convolution has kernel 1) and greedy `CTCBPEDecoding` with
// timestamps. Tested in tests/parity/parakeet_test.cpp.
#pragma once
#include <steno/decoders/ctc_greedy.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/parakeet.hpp>
#include <steno/tokenizers/nemo_words.hpp>

#include <cmath>

namespace steno::inline STENO_ABI {

struct parakeet_ctc_kind {
  static constexpr std::string_view architecture = "parakeet_ctc";
};

struct parakeet_ctc_options {};

template <class Encoder, extent Labels, class Frontend = nemo_frontend<>>
class parakeet_ctc : public parakeet<Encoder, Frontend, parakeet_ctc_kind> {
  using base = parakeet<Encoder, Frontend, parakeet_ctc_kind>;

 public:
  using options = parakeet_ctc_options;

  parakeet_ctc() = default;
  STENO_COLD explicit parakeet_ctc(const gguf_file& file) : base(file), words(this->tokenizer) {}

  linear<Encoder::output, Labels> decoder;
  nemo_words words;

  void members(auto&& v) {
    base::members(v);
    v("decoder.decoder_layers.0", decoder);
    v.equal("widths of encoder and decoder", this->encoder.output_size(), decoder.input_size());
    v.equal("pieces and blank, and rows of the decoder", this->tokenizer.size() + extent{1}, decoder.output_size());
  }

  /// Encoder rows -> log-probabilities [rows, pieces + 1].
  void score(const view<const float, dynamic, Encoder::output>& rows, view<float, dynamic, Labels> y,
             context& c) const noexcept {
    decoder(rows, y, c);
    c.trace("logits", y);
    kernels::log_softmax(read(y), write(y), c.run);
    c.trace("log_probs", y);
  }

  /// A token's frames as the original gives them: from the frame of the token before to its own first frame; a
  /// punctuation mark ends where it starts.
  std::vector<placed_token> place(std::span<const ctc_token> tokens) const {
    std::vector<placed_token> all;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const extent start = i > 0 ? tokens[i - 1].start : std::max<extent>(0, tokens[i].start - 1);
      all.push_back({tokens[i].id, start, tokens[i].start});
      if (i > 0 && words.begins_with_mark(this->tokenizer.decode(std::span(&tokens[i].id, 1)))) all.back().end = start;
    }
    return all;
  }

  /// One clip of 16 kHz mono samples in [-1, 1], all at once.
  STENO_COLD segment recognise(std::span<const float> pcm, const options&, context& c) const {
    segment s;
    s.end = static_cast<double>(pcm.size()) / base::sample_rate;
    const extent n = this->frames(static_cast<extent>(pcm.size()));
    if (n == 0) return s;
    workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, Encoder::output>(n, this->encoder.output_size());
    this->encode(pcm, rows, c);
    auto scores = scratch.template matrix<dynamic, Labels>(n, decoder.output_size());
    score(as<const float, dynamic, Encoder::output>(rows), scores, c);
    std::vector<ctc_token> tokens;
    ctc_greedy(read(scores), this->blank(), tokens);
    std::vector<float> sure;
    double total = 0;
    for (const ctc_token& t : tokens) {
      s.token_ids.push_back(t.id);
      sure.push_back(scores(t.start, t.id));
    }
    // The original's score: the best values of all frames whose best label is not blank.
    for (extent t = 0; t < n; ++t) {
      const int best = best_label(scores.data() + t * scores.outerStride(), scores.cols());
      if (best != this->blank()) total += static_cast<double>(scores(t, best));
    }
    s.extra.emplace_back("score", total);
    base::write_text(words, place(tokens), sure, s);
    return s;
  }
};

/// nvidia/parakeet-ctc-0.6b and -1.1b: 80 bands, 1024 pieces.
using parakeet_ctc_06b = parakeet_ctc<fastconformer<80, 1024, 24, bias::added>, 1025, nemo_frontend<80>>;
using parakeet_ctc_11b = parakeet_ctc<fastconformer<80, 1024, 42, bias::added>, 1025, nemo_frontend<80>>;

/// Any sizes: extents are adopted from the file.
using parakeet_ctc_any = parakeet_ctc<fastconformer_encoder_any, dynamic>;

}  // namespace steno::inline STENO_ABI
