// steno/pipelines/whisper_hearing.hpp - Whisper hears recordings: options, its segments as everybody's, windows as the
// samples come.
//
// Whisper's features have a floor under the loudest frame of the whole recording, so all of it is looked at before the
// first window. Who can read a recording twice calls look() with all of it first; then push() transcribes as it comes
// and nothing is kept but the window. Otherwise the samples are kept until finish(). Tested in
// tests/pipelines/whisper_test.cpp.
#pragma once
#include <steno/core/result.hpp>
#include <steno/models/whisper_transcribe.hpp>
#include <steno/pipelines/sample_store.hpp>
#include <steno/pipelines/transcribe_options.hpp>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// The original's options. Hotwords bring a beam with them, of the width that the original's program has. Throws
/// steno::error for a language that the model does not know.
STENO_COLD inline whisper_transcribe_options whisper_options(const whisper_any& m, const transcribe_options& o,
                                                             const hotword_automaton& hotwords) {
  constexpr int usual_beam = 5;
  whisper_transcribe_options asked;
  if (o.language != "auto") {
    if (!m.supports_language(o.language))
      fail({.what = "language " + steno::quoted(o.language), .expected = "one that the model knows"});
    asked.decode.language = m.tokenizer.find_language(o.language);
  }
  if (o.beam > 1)
    asked.decode.beam_size = o.beam;
  else if (!hotwords.empty())
    asked.decode.beam_size = usual_beam;
  asked.decode.contexts = &hotwords;
  const decoding_options& d = o.decoding;
  const auto take = [](const auto& from, auto& to) {
    if (from) to = *from;
  };
  const auto take_threshold = [](const std::optional<double>& from, std::optional<double>& to) {
    if (from) to = std::isnan(*from) ? std::nullopt : from;
  };
  take(d.translate, asked.decode.translate);
  take(d.temperature, asked.temperatures);
  take(d.best_of, asked.decode.best_of);
  take(d.patience, asked.decode.patience);
  if (d.length_penalty) asked.decode.length_penalty = d.length_penalty;
  if (d.suppress_tokens) {
    asked.decode.suppress_symbols = false;
    asked.decode.suppress = !d.suppress_tokens->empty();
    for (const int id : *d.suppress_tokens)
      id == -1 ? asked.decode.suppress_symbols = true : (asked.decode.suppress_tokens.push_back(id), true);
  }
  take(d.initial_prompt, asked.initial_prompt);
  take(d.carry_initial_prompt, asked.carry_initial_prompt);
  take(d.condition_on_previous_text, asked.condition_on_previous_text);
  take_threshold(d.compression_ratio_threshold, asked.compression_ratio_threshold);
  take_threshold(d.logprob_threshold, asked.logprob_threshold);
  take_threshold(d.no_speech_threshold, asked.no_speech_threshold);
  take(d.without_timestamps, asked.decode.without_timestamps);
  take_threshold(d.max_initial_timestamp, asked.decode.max_initial_timestamp);
  take(d.word_timestamps, asked.word_timestamps);
  take(d.prepend_punctuations, asked.prepend_punctuations);
  take(d.append_punctuations, asked.append_punctuations);
  take(d.clip_timestamps, asked.clip_timestamps);
  take_threshold(d.hallucination_silence_threshold, asked.hallucination_silence_threshold);
  take(d.seed, asked.decode.seed);
  return asked;
}

inline std::string_view whisper_stop_name(whisper_stop s) {
  return s == whisper_stop::end_of_text ? "end_of_text" : s == whisper_stop::sample_len ? "sample_len" : "context";
}

/// A segment of Whisper's as everybody's. `w`: its window.
STENO_COLD inline segment as_segment(whisper_segment s, const whisper_window_result& w, int language) {
  segment told;
  told.start = s.start;
  told.end = s.end;
  told.text = std::string(unicode::strip(s.text));
  told.token_ids = std::move(s.tokens);
  told.language = std::string(whisper_tokens::code(language));
  told.extra = {{"seek", static_cast<double>(s.seek)},
                {"temperature", s.temperature},
                {"avg_logprob", s.avg_logprob},
                {"compression_ratio", s.compression_ratio},
                {"no_speech_prob", s.no_speech_prob},
                {"stop", std::string(whisper_stop_name(w.stop))},
                {"fallbacks", static_cast<double>(w.decodes - 1)}};
  // What it wrote, where that is not the text with a space before it.
  if (!s.text.empty() && s.text != " " + told.text) told.extra.emplace_back("raw_text", std::move(s.text));
  for (whisper_timed_word& from : s.words) {
    const auto text = std::string_view(from.text);
    const std::string_view bare = unicode::strip(text);
    const auto lead = bare.empty() ? text.size() : static_cast<std::size_t>(bare.data() - text.data());
    told.words.push_back({.text = std::string(text.substr(lead)),
                          .start = from.start,
                          .end = from.end,
                          .confidence = static_cast<float>(from.probability),
                          .how = timing::native,
                          .space = std::string(text.substr(0, lead))});
  }
  return told;
}

/// What became of every window, for the result's `extra`.
STENO_COLD inline extra_field as_field(const std::vector<whisper_window_result>& windows) {
  std::vector<extra_row> rows;
  for (const whisper_window_result& w : windows)
    rows.push_back({{"start", w.first * 0.01},
                    {"end", (w.first + w.frames) * 0.01},
                    {"outcome", std::string(w.skipped ? "no_speech" : "text")},
                    {"stop", std::string(whisper_stop_name(w.stop))},
                    {"fallbacks", static_cast<double>(w.decodes - 1)},
                    {"temperature", w.temperature},
                    {"avg_logprob", w.avg_logprob},
                    {"compression_ratio", w.compression_ratio},
                    {"no_speech_prob", w.no_speech_prob}});
  return {"windows", std::move(rows)};
}

/// A recording that Whisper hears. Model and hotwords must outlive it.
class whisper_hearing {
 public:
  /// Throws steno::error for options the model does not know.
  STENO_COLD whisper_hearing(const whisper_any& m, const transcribe_options& o, const hotword_automaton& hotwords)
      : model_(&m), options_(whisper_options(m, o, hotwords)) {}

  /// All of the recording, before push() brings it again.
  void look(std::span<const float> pcm, context& c) {
    looked_ = true;
    peak_.push(model_->frontend, pcm, c);
  }
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    kept_.push(pcm);
    if (looked_)
      hear(c, sink);
    else
      peak_.push(model_->frontend, pcm, c);
  }
  /// The rest; `head` gets what concerns the whole recording. Throws steno::error when look() saw another one.
  template <class Sink>
  void finish(context& c, Sink&& sink, result& head) {
    if (kept_.end() != peak_.samples())
      fail({.what = "the recording has changed since it was looked at",
            .expected = std::to_string(peak_.samples()) + " samples",
            .found = std::to_string(kept_.end())});
    hear(c, sink);
    head.language = std::string(whisper_tokens::code(transcription_->language()));
    head.extra.push_back(as_field(transcription_->windows()));
  }
  /// Seconds that are done.
  double done() const { return transcription_ ? transcription_->seconds() : 0; }

 private:
  using transcription = whisper_transcription<whisper_any>;
  template <class Sink>
  void hear(context& c, Sink& sink) {
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
      t.advance(window_, std::min(first, last), c, [&](whisper_segment s) {
        const whisper_window_result& w = t.windows()[s.window];
        sink(as_segment(std::move(s), w, t.language()));
      });
      kept_.drop_before(t.rest());
    }
    kept_.drop_before(kept_.end());
  }

  const whisper_any* model_;
  whisper_transcribe_options options_;
  bool looked_ = false;
  log_mel_peak peak_;
  sample_store kept_;
  std::vector<float> window_;
  std::optional<transcription> transcription_;
};

/// A clip that something else cut out: its segments as one, times from the clip's start.
STENO_COLD inline segment recognise_clip(const whisper_any& m, std::span<const float> clip, const transcribe_options& o,
                                         const hotword_automaton& hotwords, context& c) {
  segment all;
  all.end = static_cast<double>(clip.size()) / m.sample_rate;
  whisper_hearing h(m, o, hotwords);
  const auto join = [&](segment s) {
    if (s.token_ids.empty()) return;
    if (all.token_ids.empty()) all.extra = s.extra;
    if (!all.text.empty() && !s.text.empty()) all.text += ' ';
    all.text += s.text;
    all.token_ids.insert(all.token_ids.end(), s.token_ids.begin(), s.token_ids.end());
    for (word& w : s.words) all.words.push_back(std::move(w));
  };
  h.push(clip, c, join);
  result head;
  h.finish(c, join, head);
  all.language = head.language;
  return all;
}

}  // namespace STENO_ABI
}  // namespace steno
