// steno/core/result.hpp - what a recogniser returns, the same for every family.
//
// Times are seconds from the start of the recording. `how` says where a word's times come from; they are never
// invented. Written as JSON, subtitles and tables by examples/transcriber.
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

struct word {
  std::string text;
  double start = 0, end = 0;  ///< seconds; meaningless when how == timing::none
  float confidence = 0;       ///< probability in [0, 1]
  timing how = timing::none;
  std::string space = {};  ///< white space in front of it, where the model writes it (Whisper)
};

/// Texts with scores, best first: an n-best list.
using scored_texts = std::vector<std::pair<std::string, double>>;

/// A std::variant that may be copied when memory is short: that of libstdc++ 12 destroys what it has not made yet when
/// the copy of a string or a vector throws (it believes that such a variant always holds something).
template <class... Types>
struct field_value : std::variant<Types...> {
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

/// A row of a table: texts and numbers by name.
using extra_row = std::vector<std::pair<std::string, field_value<std::string, double>>>;
/// A field only one family has (SenseVoice's emotion, Whisper's no-speech probability, ...).
using extra_field = std::pair<std::string, field_value<std::string, double, scored_texts, std::vector<extra_row>>>;

struct segment {
  double start = 0, end = 0;
  std::string text;
  std::vector<int> token_ids;
  std::optional<std::string> speaker;
  std::vector<word> words;
  std::string language;
  std::vector<extra_field> extra;
};

struct result {
  std::string model;     ///< "sense_voice", ...
  double duration = 0;   ///< seconds of audio
  std::string language;  ///< of the first segment that has one
  std::string text;      ///< the segments' texts, joined
  std::vector<segment> segments;
  std::vector<extra_field> extra;
};

}  // namespace STENO_ABI
}  // namespace steno
