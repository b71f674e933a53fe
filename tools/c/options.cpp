#include "options.hpp"

#include <steno/core/dtype.hpp>
#include <steno/core/hotword.hpp>
#include <steno/error.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace steno::c {

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& value, const char* expected) {
  fail({.what = "option " + name, .expected = expected, .found = "\"" + value + "\""});
}

// Each reads `text` into a member of its type, or says what is expected.
const char* read_value(std::string_view text, bool& to) {
  if (text == "true" || text == "1") return to = true, nullptr;
  if (text == "false" || text == "0") return to = false, nullptr;
  return "true or false";
}
template <class T>
requires std::is_arithmetic_v<T>
const char* read_value(std::string_view text, T& to) {
  T found{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (failed != std::errc() || end != text.data() + text.size())
    return std::is_integral_v<T> ? "a whole number" : "a number";
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(found)) return "a number";
  to = found;
  return nullptr;
}
const char* read_value(std::string_view text, std::string& to) { return to = text, nullptr; }
const char* read_value(std::string_view text, dtype& to) {
  const auto found = core::find_dtype(text);
  if (!found) return "f32, f16 or q8_0";
  to = found->type;
  return nullptr;
}
template <class T>
const char* read_value(std::string_view text, std::vector<T>& to);
template <class T>
const char* read_value(std::string_view text, std::optional<T>& to) {
  T found{};
  const char* const wrong = read_value(text, found);
  if (wrong == nullptr) to = std::move(found);
  return wrong;
}
// Numbers with commas between them, or phrases, one a line.
template <class T>
const char* read_value(std::string_view text, std::vector<T>& to) {
  constexpr char between = std::is_arithmetic_v<T> ? ',' : '\n';
  std::vector<T> all;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(between));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if constexpr (std::is_arithmetic_v<T>) {
      T found{};
      if (read_value(one, found) != nullptr) return "numbers with commas between them";
      all.push_back(found);
    } else if (std::optional<core::hotword> phrase = core::parse_hotword(one)) {
      all.push_back(*std::move(phrase));
    }
  }
  to = std::move(all);
  return nullptr;
}

// f(name, member) for what transcribe_options and session_options have but for their pointers.
template <class F>
void each_of_recordings(transcribe_options& o, F&& f) {
  f("language", o.language);
  f("target_language", o.target_language);
  f("punctuation", o.punctuation);
  f("itn", o.itn);
  f("max_clip_seconds", o.max_clip_seconds);
  f("limit_seconds", o.limit_seconds);
  f("merge_seconds", o.merge_seconds);
  f("parallel_clips", o.parallel_clips);
  f("look_ahead", o.look_ahead);
  f("beam", o.beam);
  f("hotwords", o.hotwords);
  f("hotword_score", o.hotword_score);
  decoding_options::each(o.decoding, f);
}
template <class F>
void each_of_streams(session_options& o, F&& f) {
  f("chunk_size", o.chunk_size);
  f("left_chunks", o.left_chunks);
  f("left_context", o.left_context);
  f("look_ahead", o.look_ahead);
  f("language", o.language);
  f("rescore", o.rescore);
  f("endpoints", o.endpoints);
  f("continuous", o.continuous);
  f("forget_turns", o.forget_turns);
  f("partial_seconds", o.partial_seconds);
  f("max_utterance_seconds", o.max_utterance_seconds);
  f("limit_seconds", o.limit_seconds);
  f("beam", o.beam);
  f("hotwords", o.hotwords);
  f("hotword_score", o.hotword_score);
}

// Whether there is an option of this name among `each`; sets it.
template <class Options, class Each>
bool assign(Options& o, Each&& each, const std::string& name, const std::string& value) {
  bool known = false;
  each(o, [&](std::string_view its, auto& member) {
    if (its != name) return;
    known = true;
    if (const char* const expected = read_value(value, member)) refuse(name, value, expected);
  });
  return known;
}

constexpr auto of_recordings = [](transcribe_options& o, auto&& f) { each_of_recordings(o, f); };
constexpr auto of_streams = [](session_options& o, auto&& f) { each_of_streams(o, f); };

}  // namespace

void named_options::set(const std::string& name, const std::string& value) {
  if (name == "vad") {
    vad_ = value == "none" ? "" : value;
    return;
  }
  transcribe_options recording;
  session_options stream;
  const bool one = assign(recording, of_recordings, name, value), other = assign(stream, of_streams, name, value);
  if (!one && !other)
    fail({.what = "option " + name,
          .expected = "a name of transcribe_options, decoding_options or session_options",
          .found = "none of them has it"});
  values_.insert_or_assign(name, value);
}

transcribe_options named_options::of_recording(const any_vad* vad) const {
  transcribe_options o;
  for (const auto& [name, value] : values_)
    if (!assign(o, of_recordings, name, value))
      fail({.what = "option " + name, .expected = "one of recordings", .found = "one of streams"});
  o.vad = vad;
  return o;
}

session_options named_options::of_stream() const {
  session_options o;
  for (const auto& [name, value] : values_)
    if (!assign(o, of_streams, name, value))
      fail({.what = "option " + name, .expected = "one of streams", .found = "one of recordings"});
  return o;
}

}  // namespace steno::c
