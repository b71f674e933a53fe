// steno/models/paraformer_online.hpp - Paraformer on a stream: tokens piece by piece, 600 ms each by default.
//
//   window  = encode_chunk(features of the piece)                 the end of the window before, then the piece
//   alphas  = predictor(window); 0 for its first `before` frames and, until the end, for the last `after` ones
//   tokens  = integrate and fire from what was carried; at the end one frame of zeros with alpha = tail_threshold
//   scores  = log_softmax(decoder(tokens, window and kept frames));  ids = argmax, or with hotwords the best text
//
// Follows `ParaformerStreaming` (funasr/models/paraformer_streaming/model.py) and what it calls; see
// docs/models/paraformer_online.md. Samples are cut into pieces by streaming/paraformer_stream.hpp. Tested in
// tests/models/paraformer_online_test.cpp and tests/parity/paraformer_online_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/paraformer_parts.hpp>
#include <steno/search/scores.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// Wishes for one call of recognise(). A clip is cut as the file recommends.
using paraformer_online_options = paraformer_options;

/// Paraformer for streams. A loaded model is const and may be shared by threads, each with its own state and context.
template <paraformer_sizes S, class Frontend = frontends::wav_frontend<>>
class paraformer_online : public paraformer_parts<S, Frontend> {
  using parts = paraformer_parts<S, Frontend>;
  static constexpr extent Feat = parts::features, D = parts::width, Vocab = parts::labels;

 public:
  static constexpr std::string_view architecture = "paraformer_online";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/paraformer.hpp";
  using options = paraformer_online_options;  ///< of one call of recognise()
  /// What a unit of a hotword earns, as of Paraformer.
  static constexpr float hotword_score = 3;
  using parts::decoder;                      ///< tokens, reading encoder rows, to scores
  using parts::encoder;                      ///< features to rows
  using parts::frontend;                     ///< samples to features
  using parts::predictor;                    ///< encoder rows to weights that say where tokens are
  static constexpr int sample_rate = 16000;  ///< Hz of the mono samples that it takes
  using parts::tokenizer;                    ///< ids to text

  paraformer_online() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit paraformer_online(const gguf_file& file) : parts(file, architecture, models::rate_range{}) {
    const auto read = [&](const char* key, extent least, extent& value) {
      value = models::read_whole(file, std::string(architecture) + ".chunk." + key, least, 1000, value);
    };
    read("before", 0, default_sizes.before);
    read("size", 1, default_sizes.size);
    read("after", 0, default_sizes.after);
    read("encoder_look_back", -1, default_sizes.encoder_look_back);
    read("decoder_look_back", 0, default_sizes.decoder_look_back);
    if (default_sizes.overlap() == 0)
      fail({.where = file.where(),
            .what = "keys paraformer_online.chunk.before and paraformer_online.chunk.after",
            .expected = "one of them from 1",
            .found = "0 and 0"});
  }

  nn::chunk_sizes default_sizes;  ///< those that the file recommends

  /// What a stream carries from piece to piece. Copyable; one per stream.
  struct state {
    nn::chunk_sizes sizes;                        ///< those given to start()
    typename Frontend::state front;               ///< of the front end
    typename parts::encoder_type::state encoder;  ///< end of the last window, keys and values of the layers
    nn::cif_carry carry;                          ///< what has not fired yet
    typename parts::decoder_type::state decoder;  ///< of the decoder
    extent pieces = 0;                            ///< so far
    extent windows = 0;                           ///< pieces that were encoded so far
  };
  /// A token that was found.
  struct token {
    int id = 0;                 ///< its number
    float log_probability = 0;  ///< among all tokens
  };

  /// A new stream. Throws steno::error for sizes that make no sense.
  STENO_COLD state start(const nn::chunk_sizes& chunks) const {
    constexpr extent limit = 1000;
    if (chunks.before < 0 || chunks.before > limit || chunks.size < 1 || chunks.size > limit || chunks.after < 0 ||
        chunks.after > limit || chunks.overlap() == 0 || chunks.encoder_look_back < -1 ||
        chunks.encoder_look_back > limit || chunks.decoder_look_back > limit)
      fail({.what = "chunk sizes of a stream (before, size, after; encoder's and decoder's look back)",
            .expected = "0 to 1000 frames, size and before + after from 1; look back up to 1000 pieces, -1: all in the "
                        "encoder",
            .found = std::to_string(chunks.before) + ", " + std::to_string(chunks.size) + ", " +
                     std::to_string(chunks.after) + "; " + std::to_string(chunks.encoder_look_back) + ", " +
                     std::to_string(chunks.decoder_look_back)});
    const auto d = static_cast<std::size_t>(encoder.output_size());
    state s{.sizes = chunks,
            .front = frontend.start(),
            .encoder = encoder.start(),
            .carry = {},
            .decoder = decoder.start()};
    // By itself: where a later member throws, g++ 12 destroys what a member's own braces made twice.
    s.carry.hidden.resize(d);
    s.carry.frames.resize(d);
    return s;
  }

  /// Samples of a frame. The original's number: it takes a frame of its own front end, 60 ms at 16 kHz, for granted.
  static constexpr extent frame_samples = 960;
  /// Samples of a piece, but for the last one.
  static extent piece_samples(const nn::chunk_sizes& chunks) noexcept { return chunks.size * frame_samples; }

  /// The next piece of a stream: piece_samples() samples, fewer in the last one. A last piece shorter than a frame is
  /// not decoded: the frames that were kept are encoded once more instead. Calls sink(const token&) for each token.
  template <class Sink>
  void advance(state& s, std::span<const float> pcm, bool last, context& c, Sink&& sink) const {
    advance_scores(s, pcm, last, c, [&](const view<const float>& scores) { best_of(scores, sink); });
  }
  /// The same, but calls sink(const view<const float>& scores), unless there are no tokens: log-probabilities
  /// [positions of tokens, all tokens], valid while it is called. Positions may turn out to have no text.
  template <class Sink>
  void advance_scores(state& s, std::span<const float> pcm, bool last, context& c, Sink&& sink) const {
    auto scope = c.enter("piece", s.pieces++);
    core::workspace::frame scratch(c.scratch);
    const auto n = static_cast<extent>(pcm.size());
    const extent rows = last ? n < frame_samples ? 0 : frontend.at_end(s.front, n) : frontend.ready(s.front, n);
    auto x = scratch.template matrix<dynamic, Feat>(rows, encoder.input_size());
    {
      auto quiet = c.enter("frontend");
      if (!last)
        frontend.accept(s.front, pcm, x, c);
      else if (rows > 0)
        frontend.finish(s.front, pcm, x, c);
    }
    decode_scores(s, x, last, c, sink);
  }

  /// As advance() from the piece's features [n, Feat] (after CMVN); n = 0 is the short last piece.
  template <class Sink>
  void decode(state& s, view<const float, dynamic, Feat> x, bool last, context& c, Sink&& sink) const {
    decode_scores(s, x, last, c, [&](const view<const float>& scores) { best_of(scores, sink); });
  }
  /// As advance_scores() from features.
  template <class Sink>
  void decode_scores(state& s, view<const float, dynamic, Feat> x, bool last, context& c, Sink&& sink) const {
    const extent d = encoder.output_size(), frames = s.sizes.overlap() + x.rows();
    core::workspace::frame scratch(c.scratch);
    auto all_rows = scratch.template matrix<dynamic, D>(frames + 1, d);  // and the tail's row of zeros
    const auto encoded = core::as<float, dynamic, D>(all_rows.topRows(frames));
    all_rows.row(frames).setZero();
    float* const alphas = scratch.template take<float>(static_cast<std::size_t>(frames) + 1);
    if (x.rows() > 0) c.trace("feats_before_scaling", x);
    encoder(x, encoded, &s.encoder, nn::sanm_window(s.sizes, s.windows++ == 0), c);
    predictor(core::as<const float, dynamic, D>(encoded), alphas, c);
    c.trace("alphas_raw", core::make_view(static_cast<const float*>(alphas), 1, frames));
    std::fill_n(alphas, std::min(s.sizes.before, frames), 0.0f);
    const extent new_from = s.sizes.before + s.sizes.size;
    if (!last && new_from < frames) std::fill(alphas + new_from, alphas + frames, 0.0f);
    alphas[frames] = predictor.tail_threshold;
    auto tokens = scratch.template matrix<dynamic, D>(frames + 2, d);
    const extent integrated = last ? frames + 1 : frames;
    const extent n = nn::cif_continue(core::read(all_rows.topRows(integrated)), alphas, s.carry, core::write(tokens));
    if (n == 0) return;  // the decoder keeps nothing of such a piece
    const auto embeds = core::as<float, dynamic, D>(tokens.topRows(n));
    c.trace("acoustic_embeds", embeds);
    auto scores = scratch.template matrix<dynamic, Vocab>(n, decoder.output_size());
    const extent kept = std::max<extent>(s.sizes.decoder_look_back, 0) * s.sizes.size;
    {
      auto inner = c.enter("decoder");
      const nn::sanm_decoder_env env{.encoded = nn::prepare_encoded(decoder, core::read(encoded), scratch, c.run),
                                     .keep = kept};
      decoder(core::as<const float, dynamic, D>(embeds), scores, &s.decoder, env, c);
    }
    c.trace("logits", scores);
    kernels::log_softmax(core::read(scores), core::write(scores), c.run);
    search::require_numbers(core::read(scores), c.run);
    c.trace("log_probs", scores);
    sink(view<const float>(core::read(scores)));
  }

  /// How the text of a stream is searched. The phrases must outlive the search.
  static search::position_beam_options stream_search(extent beam, const search::hotword_automaton* hotwords) noexcept {
    search::position_beam_options o = parts::beam_options(beam, hotwords);
    o.settle_after = o.usual_limit;
    return o;
  }
  /// Whether a token is one of those that are no text.
  using parts::silent;

  /// One clip of mono samples in [-1, 1] as a stream, from its beginning to its end.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;

  /// Text and words of an utterance's tokens. The original gives no times, so there are none.
  STENO_COLD void write_text(std::span<const int> ids, std::span<const float> log_probabilities, segment& s) const {
    std::vector<tokenizers::timed_token> tokens;
    for (std::size_t i = 0; i < ids.size(); ++i)
      tokens.push_back({.id = ids[i], .log_probability = log_probabilities[i]});
    auto text = tokenizer.decode(tokens);
    s.text = std::move(text.text);
    s.words = std::move(text.words);
    s.token_ids.assign(ids.begin(), ids.end());
  }

 private:
  // The best token of each position, unless it is no text.
  template <class Sink>
  static void best_of(const view<const float>& scores, Sink&& sink) {
    for (extent t = 0; t < scores.rows(); ++t) {
      const float* row = scores.data() + t * scores.outerStride();
      const int id = search::best_label(row, scores.cols());
      if (!silent(id)) sink(token{.id = id, .log_probability = row[id]});
    }
  }
  // f(state, piece, whether it is the last) for each piece of a clip.
  template <class F>
  void whole(std::span<const float> pcm, F&& f) const {
    state stream = start(default_sizes);
    const auto piece = static_cast<std::size_t>(piece_samples(default_sizes));
    for (; pcm.size() >= piece; pcm = pcm.subspan(piece)) f(stream, pcm.first(piece), false);
    f(stream, pcm, true);
  }
};

template <paraformer_sizes S, class Frontend>
segment paraformer_online<S, Frontend>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  segment s;
  s.end = static_cast<double>(pcm.size()) / sample_rate;
  if (pcm.empty()) return s;
  if (o.searches()) {
    search::position_search all(parts::beam_options(o.beam, o.hotwords), decoder.output_size());
    whole(pcm, [&](state& stream, std::span<const float> piece, bool last) {
      advance_scores(stream, piece, last, c, [&](const view<const float>& scores) { all.advance(scores); });
    });
    if (all.positions() > 0) parts::set_text(parts::keep_texts(all.texts(), s), s);
    return s;
  }
  std::vector<int> ids;
  std::vector<float> log_probabilities;
  const auto keep = [&](const token& t) {
    ids.push_back(t.id);
    log_probabilities.push_back(t.log_probability);
  };
  whole(pcm, [&](state& stream, std::span<const float> piece, bool last) { advance(stream, piece, last, c, keep); });
  write_text(ids, log_probabilities, s);
  return s;
}

/// paraformer-large-online (Mandarin, 8404 tokens): every extent static.
using paraformer_large_online = paraformer_online<paraformer_sizes{
    .encoder = {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49},
    .decoder = {.width = 512, .heads = 4, .units = 2048, .taps = 11, .layers = 16, .vocabulary = 8404}}>;
/// Any sizes: extents are adopted from the file.
using paraformer_online_any = paraformer_online<paraformer_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
