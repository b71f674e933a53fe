// steno/streaming/parakeet_stream.hpp - cache-aware streaming of Parakeet models that were trained for it (EOU,
// Nemotron).
//
//   first chunk: 1 + 8 (c - 1) frames; every further one: 8 c new frames behind the 9 before, whose 2 rows are dropped
//   rows = encoder(chunk, caches of attention and convolution);  labels = greedy search, going on
//
// NeMo `CacheAwareStreamingAudioBuffer` and `conformer_stream_step` (streaming_utils.py, mixins.py), with c =
// att_context_size[1] + 1 rows in a chunk: the same rows and tokens as the original's own pass. Any of the sizes that a
// model was trained with can be chosen; prompts stand behind the encoder and its caches, which do not know them.
// What is left at the end is decoded when it is at least 8 frames, as there. <EOU> and <EOB> are ordinary labels for
// the original; here they are events, too, and forgetting the text before at <EOU> is an option. Tested in
// tests/parity/parakeet_test.cpp and tests/parity/nemotron_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/parakeet_transducer.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// How a stream is decoded.
struct parakeet_stream_options {
  extent max_symbols = 0;              ///< steps at one frame; 0: as the file says
  bool forget_at_end_of_turn = false;  ///< the prediction network starts anew behind <EOU>; the original never does
  /// Rows of 80 ms at a time; 0: as trained. The cache keeps its length, unless the model was trained with such chunks.
  extent chunk = 0;
  bool keep_turns = true;  ///< false: tokens up to <EOU> are dropped when they were emitted
  /// Rows of 80 ms, one of those that the model was trained with: chunks have one more.
  std::optional<int> look_ahead = {};
  std::string language = "auto";  ///< of models with prompts: a name that languages() has, or auto
  /// The search: a beam, and what it favours, which must outlive the stream. Its labels come as soon as all hypotheses
  /// have them, beam_patience later if they do not agree, and never change.
  parakeet_transducer_options search = {};
};

/// Rows of 80 ms after which the best hypothesis of a stream's beam decides alone.
inline constexpr extent beam_patience = 25;

/// partial: there are new tokens; end_of_turn: the last one is <EOU>; end_of_backchannel: it is <EOB>; final: the
/// stream ended.
enum class parakeet_event_kind { partial, end_of_turn, end_of_backchannel, final };

/// What a sink gets. Views are valid until the stream goes on.
struct parakeet_event {
  parakeet_event_kind kind = parakeet_event_kind::partial;  ///< why it was emitted
  std::span<const transducer_token> tokens;                 ///< all that are kept, up to the event; they never change
  double decoded_seconds = 0;                               ///< of audio; at the end all that was pushed
};

/// One stream; the model outlives it. Each chunk costs the same and a warm stream allocates nothing but its tokens.
template <class Model>
class parakeet_stream {
 public:
  using state_type = typename Model::encoder_type::state;  ///< caches of the encoder

  /// The model must outlive it. Throws steno::error when it was not trained for caches: obstacle(), and for a
  /// look-ahead or a language that it does not know.
  parakeet_stream(const Model& m, const parakeet_stream_options& o, context& c)
      : model_(&m),
        options_(o),
        front_(m.frontend.start()),
        state_(m.encoder.start()),
        search_(m.begin(o.search, c, beam_patience, o.forget_at_end_of_turn ? m.end_of_turn : -1)) {
    if (const char* const what = obstacle(m))
      fail({.what = std::string("this model cannot stream with caches: ") + what,
            .hint = "models trained for streaming have causal convolutions and chunked_limited attention"});
    prompt_ = m.prompts.prompt_of(o.language);
    const nn::attention_window w = window_of(m, o);
    rows_at_once_ = o.chunk > 0 ? o.chunk : w.chunk;
    kept_ = w.left * w.chunk;
    // What a short first chunk lacks of the overlap is zeros, as in the original.
    read_ = std::max<extent>(0, cached - (1 + rate * (rows_at_once_ - 1)));
    features_.resize(static_cast<std::size_t>(read_ * width()));
    search_.tokens.reserve(1024);
  }

  /// Why a model cannot stream with caches; null when it can.
  static const char* obstacle(const Model& m) {
    if (std::none_of(m.windows.begin(), m.windows.end(), limited)) return "its attention is not limited to chunks";
    if (m.encoder.template get<"pre_encode">().causal.get() == 0) return "its subsampling is not causal";
    for (const auto& layer : m.encoder.template get<"layers">().layers)
      if (layer.template get<"conv">().causal.get() == 0) return "its convolutions are not causal";
    return m.frontend.last.whole_clip() ? "its features are normalised over the whole clip" : nullptr;
  }

  /// Rows of a chunk where the options say nothing, of a model without an obstacle.
  static extent usual_chunk(const Model& m) { return usual_window(m).chunk; }

  /// More 16 kHz mono samples in [-1, 1], any number of them. `sink(parakeet_event)` is called for what they make.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    const auto n = static_cast<extent>(pcm.size());
    model_->frontend.accept(front_, pcm, room(model_->frontend.ready(front_, n)), c);
    samples_ += n;
    while (unread() >= wanted()) step(wanted(), c, sink);
  }
  /// The end: decodes what is left. Afterwards only reset() may be called.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    const extent rest = model_->frontend.at_end(front_, 0);
    model_->frontend.finish(front_, frontends::samples{}, room(rest), c);
    room(1).setZero();  // the frame that the original declares invalid takes part in its streams
    while (unread() >= wanted()) step(wanted(), c, sink);
    if (unread() >= (started_ ? rate : 1)) step(unread(), c, sink);
    decoded_ = samples_;
    const std::size_t known = search_.tokens.size();
    model_->finish(search_);
    emit_turns(known, sink);
    emit(parakeet_event_kind::final, search_.tokens.size(), sink);
  }
  /// A new stream in the memory of this one.
  void reset(context& c) { *this = parakeet_stream(*model_, options_, c); }

  /// The first `count` tokens are of no interest any more: they come in no event again.
  void forget(std::size_t count) {
    search_.tokens.erase(search_.tokens.begin(), search_.tokens.begin() + static_cast<std::ptrdiff_t>(count));
  }

  std::span<const transducer_token> tokens() const noexcept { return search_.tokens; }  ///< all that are kept
  const state_type& state() const noexcept { return state_; }                           ///< caches of the encoder
  /// Encoder rows so far.
  extent rows() const noexcept { return rows_; }
  /// Seconds of audio pushed.
  double pushed_seconds() const noexcept { return static_cast<double>(samples_) / Model::sample_rate; }

 private:
  static constexpr extent rate = 8, cached = rate + 1, drop = 1 + (cached - 1) / rate;

  static bool limited(const nn::attention_window& w) noexcept { return w.chunk > 0 && w.left >= 0; }
  static const nn::attention_window& usual_window(const Model& m) {
    return *std::find_if(m.windows.begin(), m.windows.end(), limited);
  }
  // The window of the options' look-ahead, one with chunks as long as theirs, or the usual one.
  STENO_COLD static nn::attention_window window_of(const Model& m, const parakeet_stream_options& o) {
    if (o.look_ahead) {
      const nn::attention_window w = m.window_for(o.look_ahead);
      if (!limited(w)) fail({.what = "look-ahead of a stream", .expected = "a limit", .found = "none"});
      return w;
    }
    const auto same = [&](const nn::attention_window& w) { return limited(w) && w.chunk == o.chunk; };
    const auto found = std::find_if(m.windows.begin(), m.windows.end(), same);
    return found != m.windows.end() ? *found : usual_window(m);
  }

  extent width() const noexcept { return model_->frontend.width(); }
  extent unread() const noexcept { return static_cast<extent>(features_.size()) / width() - read_; }
  extent wanted() const noexcept { return started_ ? rate * rows_at_once_ : 1 + rate * (rows_at_once_ - 1); }
  view<float> room(extent rows) {
    const extent unused = std::max<extent>(0, read_ - cached);
    features_.erase(features_.begin(), features_.begin() + unused * width());
    read_ -= unused;
    const std::size_t old = features_.size();
    features_.resize(old + static_cast<std::size_t>(rows * width()));
    return core::make_view(features_.data() + old, rows, width());
  }

  template <class Sink>
  void step(extent frames, context& c, Sink&& sink) {
    using encoder = typename Model::encoder_type;
    const extent before = started_ ? std::min(cached, read_) : 0, total = before + frames;
    const extent skipped = started_ ? drop : 0, rows = std::max<extent>(0, model_->encoder.rows(total) - skipped);
    core::workspace::frame scratch(c.scratch);
    auto y = scratch.template matrix<dynamic, encoder::output>(rows, model_->encoder.output_size());
    const auto x = core::make_view<dynamic, encoder::input>(
        static_cast<const float*>(features_.data()) + (read_ - before) * width(), total, width());
    {
      auto scope = c.enter("stream");
      const nn::fastconformer_env env{.drop = skipped, .keep = kept_};
      model_->encoder(x, y, &state_, env, c);
      model_->prompt(core::as<float, dynamic, encoder::output>(y), prompt_, c);
    }
    read_ += frames;
    decoded_ = std::min(samples_, decoded_ + frames * model_->frontend.head.options().shift);
    started_ = true;
    const std::size_t known = search_.tokens.size();
    const extent max_steps = options_.max_symbols > 0 ? options_.max_symbols : model_->max_symbols;
    model_->advance(search_, core::as<const float, dynamic, encoder::output>(y), rows_, max_steps, c,
                    options_.forget_at_end_of_turn ? model_->end_of_turn : -1);
    rows_ += rows;
    const std::size_t emitted = emit_turns(known, sink);
    if (emitted < search_.tokens.size()) emit(parakeet_event_kind::partial, search_.tokens.size(), sink);
  }
  // Ends of turns among the tokens from `known` on; returns how many tokens were emitted so.
  template <class Sink>
  std::size_t emit_turns(std::size_t known, Sink&& sink) {
    std::size_t emitted = known;
    for (std::size_t i = known; i < search_.tokens.size(); ++i) {
      const int id = search_.tokens[i].id;
      if (!model_->ends_turn(id)) continue;
      emitted = i + 1;
      emit(id == model_->end_of_turn ? parakeet_event_kind::end_of_turn : parakeet_event_kind::end_of_backchannel,
           emitted, sink);
      if (options_.keep_turns) continue;
      search_.tokens.erase(search_.tokens.begin(), search_.tokens.begin() + static_cast<std::ptrdiff_t>(emitted));
      i = static_cast<std::size_t>(-1);  // the next one is the first
      emitted = 0;
    }
    return emitted;
  }
  template <class Sink>
  void emit(parakeet_event_kind kind, std::size_t count, Sink&& sink) {
    sink(parakeet_event{.kind = kind,
                        .tokens = std::span(search_.tokens).first(count),
                        .decoded_seconds = static_cast<double>(decoded_) / Model::sample_rate});
  }

  const Model* model_;
  parakeet_stream_options options_;
  typename decltype(Model::frontend)::state front_;
  state_type state_;
  typename Model::search search_;
  std::vector<float> features_;  // rows; the first read_ were used, of which the last 9 are seen again
  extent read_ = 0, rows_ = 0, samples_ = 0, decoded_ = 0, rows_at_once_ = 1;
  extent kept_ = 0;  // rows of the attention's caches
  int prompt_ = -1;
  bool started_ = false;
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
