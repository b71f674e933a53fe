// steno/models/whisper_transcribe.hpp - a recording of any length, window by window, as whisper.transcribe() does it.
//
// The window moves to the last time the model wrote; what was written is the prompt of the next one. A window that
// repeats itself or is improbable is decoded again at higher temperatures; one without speech is skipped. Follows
// `transcribe` (whisper/transcribe.py). Memory does not grow with the recording but for the text: features are made for
// each window, from the samples around it; their floor is the whole recording's. Tested in
// tests/parity/whisper_transcribe_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/log_mel.hpp>
#include <steno/models/whisper_decode.hpp>
#include <steno/models/whisper_words.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace whisper {

/// The arguments of transcribe(), with its defaults.
struct whisper_transcribe_options {
  whisper_decode_options decode = {};  ///< beam_size at temperature 0, best_of above; prompt is set for each window
  /// The first, and those for windows that fail with it.
  std::vector<double> temperatures = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
  std::optional<double> compression_ratio_threshold = 2.4;  ///< above it a window fails: it repeats itself; none: never
  std::optional<double> logprob_threshold = -1.0;           ///< below it a window fails: it is improbable; none: never
  std::optional<double> no_speech_threshold = 0.6;  ///< above it an improbable window holds no speech; none: never
  bool condition_on_previous_text = true;           ///< what was written is the next window's prompt
  std::string initial_prompt = {};                  ///< text before the recording: names, style
  bool carry_initial_prompt = false;                ///< before every window, not the first alone
  bool word_timestamps = false;                     ///< words with times
  std::string prepend_punctuations = std::string(detail::opening_marks);  ///< marks that go to the word after them
  std::string append_punctuations = std::string(detail::closing_marks);   ///< and to the word before them
  std::vector<double> clip_timestamps = {};                               ///< seconds: start, end, start, ...
  std::optional<double> hallucination_silence_threshold = {};             ///< seconds; needs word_timestamps
};

/// What became of a window.
struct whisper_window_result {
  int first = 0;                                  ///< its first frame (10 ms) in the recording
  int frames = 0;                                 ///< how many frames of it count
  bool skipped = false;                           ///< it holds no speech
  int decodes = 0;                                ///< more than one: it was decoded again at higher temperatures
  whisper_stop stop = whisper_stop::end_of_text;  ///< why its text ends
  double temperature = 0;                         ///< of the last decoding
  double avg_logprob = 0;                         ///< as in whisper_decoded
  double compression_ratio = 0;                   ///< as in whisper_decoded
  double no_speech_prob = 0;                      ///< as in whisper_decoded
};

/// A whole recording.
struct whisper_transcribed {
  int language = 0;                            ///< number of the language (whisper_tokens)
  std::string text;                            ///< of all windows
  std::vector<whisper_segment> segments;       ///< in order of time
  std::vector<whisper_window_result> windows;  ///< in the order in which they were decoded
};

namespace detail {

STENO_ON_CALL inline bool is_anomaly(const whisper_segment* s) {
  if (s == nullptr || s->words.empty()) return false;
  const std::string marks = std::string(opening_marks) + std::string(closing_marks);
  double score = 0;
  std::size_t count = 0;
  for (const whisper_timed_word& w : s->words) {
    if (holds(marks, w.text)) continue;
    if (count == 8) break;
    ++count;
    const double duration = w.end - w.start;
    if (w.probability < 0.15) score += 1;
    if (duration < 0.133) score += (0.133 - duration) * 15;
    if (duration > 2) score += duration - 2;
  }
  return score >= 3 || score + 0.01 >= static_cast<double>(count);
}
inline const whisper_segment* first_with_words(std::span<const whisper_segment> all) {
  for (const whisper_segment& s : all)
    if (!s.words.empty()) return &s;
  return nullptr;
}
STENO_ON_CALL inline std::optional<double> end_of(const std::vector<whisper_segment>& all) {
  for (std::size_t i = all.size(); i-- > 0;)
    if (!all[i].words.empty()) return all[i].words.back().end;
  if (all.empty()) return std::nullopt;
  return all.back().end;
}

}  // namespace detail

/// A transcription, window by window: advance() over the samples that needed() names until it is done(). Segments are
/// emitted as soon as they are known; text() and windows() grow.
template <class Model>
class whisper_transcription {
 public:
  /// `count`: samples of the recording in all; `top`: log_mel::peak() of them with window_samples() zeros behind.
  /// Throws steno::error for options that contradict each other.
  whisper_transcription(const Model& m, const whisper_transcribe_options& o, extent count, float top)
      : m_(m),
        t_(m.tokenizer),
        o_(o),
        window_frames_(static_cast<int>(m.window_frames())),
        content_(static_cast<int>(count / frontends::log_mel<>::shift)),
        samples_(count),
        top_(top),
        language_(m.tokenizer.multilingual ? o.decode.language : 0) {
    features_.resize(window_frames_, m_.frontend.width());
    if (!o_.initial_prompt.empty())
      initial_ = t_.encode(std::string(" ").append(tokenizers::unicode::strip(o_.initial_prompt)));
    written_ = initial_;
    find_clips();
  }
  /// Zeros that follow a recording.
  static extent window_samples(const Model& m) { return m.window_frames() * frontends::log_mel<>::shift; }

  /// Whether nothing is left to decode.
  bool done() const noexcept { return over() && language_ >= 0; }
  /// The samples [first, last) that the next call of advance() looks at.
  std::pair<extent, extent> needed() const noexcept {
    const extent at = language_ < 0 ? 0 : seek_;
    return {std::max<extent>(at * frontends::log_mel<>::shift - frontends::log_mel<>::length, 0),
            std::min((at + window_frames_) * frontends::log_mel<>::shift + frontends::log_mel<>::length, samples_)};
  }
  /// The first sample that this or a later window looks at; clips may go back in time.
  extent rest() const noexcept {
    int at = language_ < 0 ? 0 : seek_;
    for (std::size_t i = clip_ + 1; i < clips_.size(); ++i) at = std::min(at, clips_[i].first);
    return std::max<extent>(at * frontends::log_mel<>::shift - frontends::log_mel<>::length, 0);
  }
  /// The next window (the first time perhaps its language alone). `pcm` holds sample `first` of the recording and what
  /// follows it. sink(whisper_segment&&).
  template <class Sink>
  void advance(std::span<const float> pcm, extent first, context& c, Sink&& sink) {
    pcm_ = {pcm, first, samples_ + window_samples(m_)};
    if (language_ < 0) {
      listen(0, window_frames_, c);
      std::vector<float> probs;
      language_ = whisper_detect_language(m_, w_, probs, c);
      return;
    }
    const int before = seek_, end = clips_[clip_].second;
    std::vector<whisper_segment> now = window(end, c);
    // The window always moves on, whatever the times say.
    if (seek_ <= before) seek_ = before + std::min({window_frames_, content_ - before, end - before});
    settle();
    for (whisper_segment& s : now) sink(std::move(s));
  }

  /// Number of the language (whisper_tokens); negative until it is known.
  int language() const noexcept { return language_; }
  /// Seconds of the recording that are done.
  double seconds() const noexcept { return seconds_of(over() ? content_ : std::min(seek_, content_)); }
  /// What was written so far, without the initial prompt.
  std::string text() const {
    return t_.text_of({written_.begin() + static_cast<std::ptrdiff_t>(initial_.size()), written_.end()});
  }
  /// What became of the windows so far.
  const std::vector<whisper_window_result>& windows() const noexcept { return windows_; }

 private:
  // As the original computes it: 57 * 0.01 is not 0.57.
  static double seconds_of(int frames) noexcept { return frames * 160 / 16000.0; }
  void find_clips() {
    std::vector<int> points;
    for (const double s : o_.clip_timestamps)
      points.push_back(static_cast<int>(std::nearbyint(std::clamp(s, 0.0, 1e7) * 100)));
    if (points.empty()) points.push_back(0);
    if (points.size() % 2 == 1) points.push_back(content_);
    for (std::size_t i = 0; i < points.size(); i += 2)
      clips_.emplace_back(points[i], std::min(points[i + 1], content_));
    seek_ = clips_[0].first;
    settle();
  }
  bool over() const noexcept { return clip_ == clips_.size(); }
  // To the next clip that is not over; it begins where it shall, also where the one before ended later.
  void settle() {
    while (!over() && seek_ >= clips_[clip_].second)
      if (++clip_ < clips_.size()) seek_ = clips_[clip_].first;
  }

  // Frames seek .. seek + count - 1 (zeros behind them) to keys and values.
  void listen(int seek, int count, context& c) {
    auto x = core::make_view(features_.data(), window_frames_, m_.frontend.width());
    x.setZero();
    m_.features_of(pcm_, seek, top_, core::write(x.topRows(count)), c);
    m_.encode_rows(core::read(x), w_, c);
  }

  whisper_decoded decode(int& decodes, context& c) {
    whisper_decode_options d = o_.decode;
    d.language = language_;
    d.prompt = prompt();
    whisper_decoded r;
    for (std::size_t i = 0; i < o_.temperatures.size(); ++i) {
      d.temperature = o_.temperatures[i];
      const bool sampled = d.temperature > 0;
      d.beam_size = sampled ? 0 : o_.decode.beam_size;
      d.patience = sampled ? 1 : o_.decode.patience;
      d.best_of = sampled ? o_.decode.best_of : 0;
      d.seed = o_.decode.seed + static_cast<std::uint64_t>(seek_) * 16 + i;
      decodes = static_cast<int>(i) + 1;
      r = whisper_decode(m_, w_, d, c);
      const bool improbable = o_.logprob_threshold && r.avg_logprob < *o_.logprob_threshold;
      const bool repeats = o_.compression_ratio_threshold && r.compression_ratio > *o_.compression_ratio_threshold;
      const bool silent = o_.no_speech_threshold && r.no_speech_prob > *o_.no_speech_threshold && improbable;
      if (silent || !(improbable || repeats)) break;
    }
    return r;
  }
  std::vector<int> prompt() const {
    if (!o_.carry_initial_prompt) return {written_.begin() + static_cast<std::ptrdiff_t>(prompt_from_), written_.end()};
    const extent room = m_.decoder.context_size() / 2 - 1 - static_cast<extent>(initial_.size());
    const std::size_t from = std::max(initial_.size(), prompt_from_);
    const std::vector<int> rest =
        detail::last_tokens({written_.begin() + static_cast<std::ptrdiff_t>(from), written_.end()}, room);
    std::vector<int> all = initial_;
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

  std::vector<whisper_segment> window(int clip_end, context& c) {
    const int previous = seek_, size = std::min({window_frames_, content_ - seek_, clip_end - seek_});
    const double offset = seconds_of(seek_);
    listen(seek_, size, c);
    whisper_window_result outcome{.first = previous, .frames = size};
    const whisper_decoded d = decode(outcome.decodes, c);
    outcome.stop = d.stop;
    outcome.temperature = d.temperature;
    outcome.avg_logprob = d.avg_logprob;
    outcome.compression_ratio = d.compression_ratio;
    outcome.no_speech_prob = d.no_speech_prob;
    outcome.skipped = o_.no_speech_threshold && d.no_speech_prob > *o_.no_speech_threshold &&
                      !(o_.logprob_threshold && d.avg_logprob > *o_.logprob_threshold);
    windows_.push_back(outcome);
    if (outcome.skipped) {
      seek_ += size;
      return {};
    }
    std::vector<whisper_segment> now;
    const bool single = cut(d, size, now);
    if (o_.word_timestamps && !add_words(now, single, previous, size, offset, c)) return {};
    for (whisper_segment& s : now) {
      s.window = windows_.size() - 1;
      if (s.start != s.end && !tokenizers::unicode::strip(s.text).empty()) continue;
      s.text.clear();
      s.tokens.clear();
      s.words.clear();
    }
    for (const whisper_segment& s : now) written_.insert(written_.end(), s.tokens.begin(), s.tokens.end());
    if (!o_.condition_on_previous_text || d.temperature > 0.5) prompt_from_ = written_.size();
    return now;
  }

  // Segments between pairs of times; moves the window. True when a single time ends the text.
  bool cut(const whisper_decoded& d, int size, std::vector<whisper_segment>& now) {
    const std::vector<int>& ids = d.tokens;
    const std::size_t n = ids.size();
    const int begin = t_.timestamp_begin, step = window_frames_ / static_cast<int>(m_.window_rows());
    const double offset = seconds_of(seek_), precision = seconds_of(step);
    const auto is_time = [&](std::size_t i) { return ids[i] >= begin; };
    const bool single = n >= 2 && !is_time(n - 2) && is_time(n - 1);
    std::vector<std::size_t> slices;
    for (std::size_t i = 1; i < n; ++i)
      if (is_time(i - 1) && is_time(i)) slices.push_back(i);
    if (slices.empty()) {
      double duration = seconds_of(size);
      for (std::size_t i = n; i-- > 0;) {
        if (!is_time(i)) continue;
        if (ids[i] != begin) duration = (ids[i] - begin) * precision;
        break;
      }
      now.push_back(made(d, offset, offset + duration, ids));
      seek_ += size;
      return single;
    }
    if (single) slices.push_back(n);
    std::size_t last = 0;
    for (const std::size_t to : slices) {
      const std::vector<int> part(ids.begin() + static_cast<std::ptrdiff_t>(last),
                                  ids.begin() + static_cast<std::ptrdiff_t>(to));
      now.push_back(
          made(d, offset + (part.front() - begin) * precision, offset + (part.back() - begin) * precision, part));
      last = to;
    }
    seek_ += single ? size : (ids[last - 1] - begin) * step;
    return single;
  }
  whisper_segment made(const whisper_decoded& d, double start, double end, const std::vector<int>& ids) const {
    std::vector<int> spoken = ids;
    std::erase_if(spoken, [&](int id) { return id >= t_.eot; });
    return {
        seek_, start, end, t_.text_of(spoken), ids, d.temperature, d.avg_logprob, d.compression_ratio, d.no_speech_prob,
        {}};
  }

  // Words, and what they say about silence. False when the window begins again from elsewhere.
  bool add_words(std::vector<whisper_segment>& now, bool single, int previous, int size, double offset, context& c) {
    whisper_add_words(m_, w_, now, language_, o_.decode.translate, size, last_speech_,
                      {o_.prepend_punctuations, o_.append_punctuations}, c);
    const auto at = [](double seconds) { return static_cast<int>(std::nearbyint(seconds * 100)); };
    std::optional<double> end = detail::end_of(now);
    if (!single && end && *end > offset) seek_ = at(*end);
    if (o_.hallucination_silence_threshold) {
      const double threshold = *o_.hallucination_silence_threshold, window_end = seconds_of(previous + window_frames_);
      if (!single && end && *end > offset) seek_ = window_end - *end > threshold ? at(*end) : previous + size;
      const whisper_segment* const first = detail::first_with_words(now);
      if (detail::is_anomaly(first) && first->start - offset > threshold) {
        seek_ = previous + at(first->start - offset);
        return false;
      }
      double last_end = last_speech_;
      for (std::size_t i = 0; i < now.size(); ++i) {
        const whisper_segment& s = now[i];
        if (s.words.empty()) continue;
        if (detail::is_anomaly(&s)) {
          const whisper_segment* const next =
              detail::first_with_words(std::span<const whisper_segment>(now).subspan(i + 1));
          const double next_start = next != nullptr ? next->words[0].start : offset + seconds_of(size);
          const bool silence_before = s.start - last_end > threshold || s.start < threshold || s.start - offset < 2;
          const bool silence_after =
              next_start - s.end > threshold || detail::is_anomaly(next) || window_end - s.end < 2;
          if (silence_before && silence_after) {
            seek_ = at(std::max(offset + 1, s.start));
            if (seconds_of(content_) - s.end < threshold) seek_ = content_;
            now.resize(i);
            break;
          }
        }
        last_end = s.end;
      }
    }
    end = detail::end_of(now);
    if (end) last_speech_ = *end;
    return true;
  }

  const Model& m_;
  const tokenizers::whisper_tokens& t_;
  whisper_transcribe_options o_;
  int window_frames_, content_ = 0, seek_ = 0;
  extent samples_ = 0;
  float top_ = 0;
  int language_ = -1;
  frontends::part_of_recording pcm_;
  std::vector<std::pair<int, int>> clips_;
  std::size_t clip_ = 0;
  double last_speech_ = 0;
  matrix<float, dynamic, dynamic> features_;
  whisper_window w_;
  std::vector<int> initial_, written_;
  std::size_t prompt_from_ = 0;
  std::vector<whisper_window_result> windows_;
};

/// Mono samples at 16 kHz in [-1, 1]; progress(seconds) is called after every window. Throws steno::error for options
/// that contradict each other.
template <class Model, class Progress>
STENO_COLD whisper_transcribed whisper_transcribe(const Model& m, std::span<const float> pcm,
                                                  const whisper_transcribe_options& o, context& c,
                                                  Progress&& progress) {
  const auto count = static_cast<extent>(pcm.size());
  const extent total = count + whisper_transcription<Model>::window_samples(m);
  whisper_transcription<Model> t(m, o, count, m.frontend.peak(pcm, total, c));
  whisper_transcribed r;
  while (!t.done()) {
    t.advance(pcm, 0, c, [&](whisper_segment s) { r.segments.push_back(std::move(s)); });
    progress(t.seconds());
  }
  r.language = std::max(t.language(), 0);
  r.text = t.text();
  r.windows = t.windows();
  return r;
}
/// The same without calls between windows.
template <class Model>
whisper_transcribed whisper_transcribe(const Model& m, std::span<const float> pcm, const whisper_transcribe_options& o,
                                       context& c) {
  return whisper_transcribe(m, pcm, o, c, [](double) {});
}

}  // namespace whisper
}  // namespace STENO_ABI
}  // namespace steno
