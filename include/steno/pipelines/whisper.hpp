// steno/pipelines/whisper.hpp - Whisper in the pipelines: options, and recordings window by window as the samples come.
//
// Whisper's features have a floor under the loudest frame of the whole recording, so all of it is needed before the
// first window. Who can read a recording twice calls preview() with all of it first; then push() transcribes as it
// comes and nothing is kept but the window. Otherwise the samples are kept until finish(). Tested in
// tests/pipelines/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/models/whisper.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/sample_store.hpp>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// The original's options; what the user leaves open is as the file says. Hotwords bring a beam with them, of the width
/// that the original's program has. Throws steno::error for a language that the model does not know.
template <class Model>
STENO_COLD whisper::whisper_transcribe_options whisper_options(const Model& m, const transcribe_options& o,
                                                               const search::guides& guides) {
  whisper::whisper_transcribe_options own;
  own.decode.language = m.generation.language;
  own.decode.translate = m.generation.translate;
  if (m.generation.max_initial)
    own.decode.max_initial_timestamp = *m.generation.max_initial * 30.0 / static_cast<double>(m.window_rows());
  if (o.language != "auto") {
    if (!m.supports_language(o.language))
      fail({.what = "language " + steno::weights::quoted(o.language), .expected = "one that the model knows"});
    own.decode.language = m.tokenizer.find_language(o.language);
  }
  if (o.beam > 1)
    own.decode.beam_size = o.beam;
  else if (!guides.hotwords.empty())
    own.decode.beam_size = static_cast<int>(search::token_beam_options::default_beam);
  own.decode.hotwords = &guides.hotwords;
  own.decode.earlier = guides.earlier;
  own.decode.writing = o.writing;
  const decoding_options& d = o.decoding;
  const auto take = [](const auto& from, auto& to) {
    if (from) to = *from;
  };
  const auto take_threshold = [](const std::optional<double>& from, std::optional<double>& to) {
    if (from) to = std::isnan(*from) ? std::nullopt : from;
  };
  take(d.translate, own.decode.translate);
  take(d.temperature, own.temperatures);
  take(d.best_of, own.decode.best_of);
  take(d.patience, own.decode.patience);
  if (d.length_penalty) own.decode.length_penalty = d.length_penalty;
  if (d.suppress_tokens) {
    own.decode.suppress_symbols = false;
    own.decode.suppress = !d.suppress_tokens->empty();
    for (const int id : *d.suppress_tokens)
      id == -1 ? own.decode.suppress_symbols = true : (own.decode.suppress_tokens.push_back(id), true);
  }
  take(d.initial_prompt, own.initial_prompt);
  take(d.carry_initial_prompt, own.carry_initial_prompt);
  take(d.condition_on_previous_text, own.condition_on_previous_text);
  take_threshold(d.compression_ratio_threshold, own.compression_ratio_threshold);
  take_threshold(d.logprob_threshold, own.logprob_threshold);
  take_threshold(d.no_speech_threshold, own.no_speech_threshold);
  take(d.without_timestamps, own.decode.without_timestamps);
  take_threshold(d.max_initial_timestamp, own.decode.max_initial_timestamp);
  take(d.word_timestamps, own.word_timestamps);
  take(d.prepend_punctuations, own.prepend_punctuations);
  take(d.append_punctuations, own.append_punctuations);
  take(d.clip_timestamps, own.clip_timestamps);
  take_threshold(d.hallucination_silence_threshold, own.hallucination_silence_threshold);
  take(d.seed, own.decode.seed);
  return own;
}

/// A recording of any length. Model and hotwords must outlive it.
template <class Model>
class whisper_recording {
 public:
  /// Throws steno::error for options the model does not know.
  STENO_COLD whisper_recording(const Model& m, const transcribe_options& o, const search::guides& guides)
      : model_(&m), options_(whisper_options(m, o, guides)) {}

  /// All of the recording, before push() brings it again.
  void preview(std::span<const float> pcm, context& c) {
    previewed_ = true;
    peak_.push(model_->frontend, pcm, c);
  }
  /// More samples.
  void push(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) {
    kept_.push(pcm);
    if (previewed_)
      advance(c, sink);
    else
      peak_.push(model_->frontend, pcm, c);
  }
  /// The rest; `head` gets what concerns the whole recording. Throws steno::error when preview() saw another one.
  void finish(context& c, core::sink_ref<segment> sink, result& head) {
    if (kept_.end() != peak_.samples())
      fail({.what = "the recording has changed since it was previewed",
            .expected = std::to_string(peak_.samples()) + " samples",
            .found = std::to_string(kept_.end())});
    advance(c, sink);
    head.language = std::string(tokenizers::whisper_tokens::code(transcription_->language()));
    head.windows = whisper::as_reports(transcription_->windows());
  }
  /// Seconds that are done.
  double done() const { return transcription_ ? transcription_->seconds() : 0; }

 private:
  using transcription = whisper::whisper_transcription<Model>;
  void advance(context& c, core::sink_ref<segment> sink) {
    if (!transcription_) {
      const extent zeros = transcription::window_samples(*model_);
      const float top = peak_.finish(model_->frontend, zeros, c);
      transcription_.emplace(*model_, options_, peak_.samples(), top);
    }
    transcription& t = *transcription_;
    while (!t.done()) {
      const auto [first, last] = t.needed();
      if (last > kept_.end()) return;
      kept_.read(std::min(first, last), last, window_);
      t.advance(window_, std::min(first, last), c, [&](whisper::whisper_segment s) {
        const whisper::whisper_window_result& w = t.windows()[s.window];
        sink(whisper::as_segment(std::move(s), w, t.language()));
      });
      kept_.drop_before(t.rest());
    }
    kept_.drop_before(kept_.end());
  }

  const Model* model_;
  whisper::whisper_transcribe_options options_;
  bool previewed_ = false;
  frontends::log_mel_peak peak_;
  sample_store kept_;
  std::vector<float> window_;
  std::optional<transcription> transcription_;
};

template <whisper::whisper_sizes S>
struct family<whisper::whisper_model<S>> : family_defaults<whisper::whisper_model<S>> {
  using model = whisper::whisper_model<S>;
  using whole_recording = whisper_recording<model>;
  static constexpr bool searches_hotwords = true;
  static constexpr bool shares_clips = true;
  static bool supports(const model& m, std::string_view option) {
    if (option == "itn") return false;
    if (option == "language" || option == "writing" || option == "beam" || option == "hotwords" ||
        option == "hotword_score")
      return true;
    return family_defaults<model>::supports(m, option) ||
           (decoding_options::has(option) && !of_language_models(option));
  }
  static whisper::whisper_transcribe_options options(const model& m, const transcribe_options& o,
                                                     const search::guides& guides, std::size_t) {
    return whisper_options(m, o, guides);
  }
};

namespace detail {
using whisper_family = family_of<whisper::whisper_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<whisper::whisper_any>;
STENO_MODEL_FUNCTIONS(template, whisper::whisper_model<whisper::whisper_sizes{}>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<whisper::whisper_any>;
STENO_MODEL_FUNCTIONS(extern template, whisper::whisper_model<whisper::whisper_sizes{}>);
#endif

}  // namespace STENO_ABI
}  // namespace steno
