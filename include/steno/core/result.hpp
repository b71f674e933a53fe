// steno/core/result.hpp - what a recogniser returns, the same for every family.
//
// Times are seconds from the start of the recording. `how` says where a word's times come from; they are never
// invented. Written as JSON, subtitles and tables by examples/transcriber.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// Where times come from: the model's own alignment, a forced aligner, or nowhere (then there are none).
enum class timing { native, aligned, none };

/// A word, or a character of scripts without words, with its times and confidence.
struct word {
  std::string text;                         ///< without the white space around it
  double start = 0, end = 0;                ///< seconds; meaningless when how == timing::none
  float confidence = 0;                     ///< probability in [0, 1]
  timing how = timing::none;                ///< where start and end come from
  std::string space = {};                   ///< white space in front of it, where the model writes it (Whisper)
  std::optional<std::string> speaker = {};  ///< "Speaker 1", ...; nothing where it is not known
};

/// Another reading of the same audio.
struct alternative {
  std::string text;  ///< the whole text of the segment, read otherwise
  double score = 0;  ///< logarithm of a probability, as segment::score
  bool operator==(const alternative&) const = default;
};

namespace core {
/// A std::variant that may be copied when memory is short: that of libstdc++ 12 destroys what it has not made yet when
/// the copy of a string or a vector throws (it believes that such a variant always holds something).
template <class... Types>
struct field_value : std::variant<Types...> {
  /// The variant that it is made of, for std::visit and std::get.
  using base = std::variant<Types...>;
  using base::base;
  field_value() = default;
  field_value(const field_value& other) : base() { assign(other); }
  field_value(field_value&&) noexcept = default;
  field_value& operator=(const field_value& other) {
    assign(other);
    return *this;
  }
  field_value& operator=(field_value&&) noexcept = default;

 private:
  void assign(const base& other) {
    std::visit([this]<class T>(const T& v) { this->template emplace<T>(T(v)); }, other);
  }
};

/// A field that only one family has (SenseVoice's emotion, Whisper's no-speech probability, ...).
using extra_field = std::pair<std::string, field_value<std::string, double>>;
/// Adds a field.
STENO_ON_CALL STENO_COLD inline void add_extra(std::vector<extra_field>& to, std::string name,
                                               field_value<std::string, double> value) {
  to.push_back({std::move(name), std::move(value)});
}
}  // namespace core

/// A part of a recording and its text: a clip, what a model puts between two times, or an utterance of a stream.
struct segment {
  double start = 0, end = 0;        ///< seconds
  std::string text = {};            ///< UTF-8
  std::vector<int> token_ids = {};  ///< what the text was decoded from, numbers of the model's tokenizer
  /// "speaker_0", ... of a diarizer, "Speaker 1", ... of texts that were attributed; else nothing.
  std::optional<std::string> speaker = {};
  std::vector<word> words = {};  ///< in order; empty where the model has none
  std::string language = {};     ///< as the model names it: "en", "English"; empty where it names none
  /// Of the text, as the family's search adds it up: the logarithm of a probability. Nothing where none is computed.
  std::optional<double> score = {};
  std::vector<alternative> alternatives = {};  ///< best first, the text itself among them; of searches with a beam
  std::string stop_reason = {};  ///< why a model that writes token by token stopped ("end_of_text", ...); else empty
  std::vector<core::extra_field> extra = {};  ///< by name; empty for families that have none
};

namespace core {
/// What became of a window, of models that go through a recording window by window (Whisper).
struct window_report {
  double start = 0, end = 0;     ///< seconds
  std::string outcome = {};      ///< "text" or "no_speech"
  std::string stop_reason = {};  ///< why the last decoding of the window ended, as segment::stop_reason
  int fallbacks = 0;             ///< times that it was decoded again at a higher temperature
  double temperature = 0;        ///< of the decoding that was kept; 0: greedy or beam search
  double avg_logprob = 0;        ///< its log probability, divided by its tokens and the end of the text
  double compression_ratio = 0;  ///< how much shorter zlib makes its text: large for repetitions
  double no_speech_prob = 0;     ///< probability that the window holds no speech
  bool operator==(const window_report&) const = default;
};
}  // namespace core

/// What was recognised in a recording. Times are seconds from its start.
struct result {
  std::string model;              ///< "sense_voice", ...
  double duration = 0;            ///< seconds of audio
  std::string language;           ///< of the first segment that has one
  std::string text;               ///< the segments' texts, joined
  std::vector<segment> segments;  ///< in the order of their start; empty where they were handed to a sink one by one
  /// Of the only segment; nothing where there are several.
  std::optional<double> score = {};
  std::vector<alternative> alternatives = {};                    ///< of the only segment, as `score`
  std::string stop_reason = {};                                  ///< of the only segment, as `score`
  std::optional<std::vector<core::window_report>> windows = {};  ///< of models that have windows
  std::vector<core::extra_field> extra = {};                     ///< of the only segment, as `score`
};

}  // namespace STENO_ABI
}  // namespace steno
