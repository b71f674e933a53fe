// SPDX-License-Identifier: Apache-2.0
#include "realtime_settings.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace steno::app {
namespace {

using value_kind = flat_value::kind;

constexpr std::size_t most_keywords = 100, longest_keywords = 4096;  // bytes in all: a prompt is paid for at every step

[[noreturn]] void refuse_path(const char* code, const std::string& path, const std::string& why) {
  const std::string shown = core::printable(std::string_view(path).substr(0, 100));  // keys are the client's
  throw realtime_error(code, shown + ": " + why, shown);
}
[[noreturn]] void expect(const flat_value& v, const std::string& what) {
  refuse_path("invalid_value", v.path, "expected " + what);
}
[[noreturn]] void unsupported(const flat_value& v, const std::string& why) {
  refuse_path("unsupported_parameter", v.path, why);
}

const std::string& word_of(const flat_value& v, const char* what) {
  if (v.what != value_kind::text) expect(v, what);
  return v.text;
}
int milliseconds(const flat_value& v, int least, int most) {
  if (v.what != value_kind::number || !v.whole || v.number < least || v.number > most)
    expect(v, std::to_string(least) + " to " + std::to_string(most) + " milliseconds");
  return static_cast<int>(v.number);
}
void must_be_object(const flat_value& v) {
  if (v.what != value_kind::object) expect(v, "an object");
}

// The names of the beta for the same things.
std::string present_path(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> renamed{{
      {"session.input_audio_transcription", "session.audio.input.transcription"},
      {"session.input_audio_noise_reduction", "session.audio.input.noise_reduction"},
      {"session.turn_detection", "session.audio.input.turn_detection"},
      {"session.input_audio_format", "session.audio.input.format.beta"},
  }};
  for (const auto& [before, now] : renamed)
    if (path.starts_with(before) && (path.size() == before.size() || path[before.size()] == '.'))
      return std::string(now) + path.substr(before.size());
  return path;
}

void set_format(realtime_settings& s, const flat_value& v) {
  const std::string& name = word_of(v, "audio/pcm, audio/pcmu or audio/pcma");
  if (name == "audio/pcm")
    s.audio = {audio_kind::coding::pcm, 24000};
  else if (name == "audio/pcmu")
    s.audio = {audio_kind::coding::mu_law, 8000};
  else if (name == "audio/pcma")
    s.audio = {audio_kind::coding::a_law, 8000};
  else
    expect(v, "audio/pcm, audio/pcmu or audio/pcma");
}
void set_beta_format(realtime_settings& s, const flat_value& v) {
  const std::string& name = word_of(v, "pcm16, g711_ulaw or g711_alaw");
  if (name == "pcm16")
    s.audio = {audio_kind::coding::pcm, 24000};
  else if (name == "g711_ulaw")
    s.audio = {audio_kind::coding::mu_law, 8000};
  else if (name == "g711_alaw")
    s.audio = {audio_kind::coding::a_law, 8000};
  else
    expect(v, "pcm16, g711_ulaw or g711_alaw");
}
// Behind the type, wherever it stands in the text.
void set_rate(realtime_settings& s, const flat_value& v) {
  if (s.audio.how != audio_kind::coding::pcm) {
    if (v.what != value_kind::number || v.number != 8000) expect(v, "8000 samples a second, or none, of G.711");
    return;
  }
  if (v.what != value_kind::number || (v.number != 24000 && v.number != 16000))
    expect(v, "24000 samples a second, or 16000");
  s.audio.rate = static_cast<int>(v.number);
}

void set_turns(realtime_settings& s, const std::string& name, const flat_value& v) {
  if (name.empty()) {
    if (v.what != value_kind::null) must_be_object(v);
    s.server_vad = v.what != value_kind::null;
  } else if (v.what == value_kind::null) {  // the usual
  } else if (name == "type") {
    if (word_of(v, "server_vad") == "semantic_vad")
      refuse_path("unsupported_value", v.path, "turns are found by pauses: server_vad, or null for your own commits");
    if (v.text != "server_vad") expect(v, "server_vad");
  } else if (name == "prefix_padding_ms") {
    s.prefix_padding = milliseconds(v, 0, 5000);
  } else if (name == "silence_duration_ms") {
    s.silence = milliseconds(v, 200, 10000);
  } else if (name == "threshold") {
    if (v.what != value_kind::number || v.number != 0.5)
      refuse_path("unsupported_value", v.path, "the detector has a level of its own: leave it out, or 0.5");
  } else if (name == "create_response" || name == "interrupt_response") {
    if (v.what != value_kind::boolean) expect(v, "true or false");
    if (v.yes) refuse_path("unsupported_value", v.path, "a session of transcription has no responses");
  } else {
    unsupported(v, "turns have type, prefix_padding_ms, silence_duration_ms and threshold");
  }
}

void set_transcription(realtime_settings& s, const std::string& name, const flat_value& v) {
  if (name.empty()) {
    if (v.what == value_kind::null) refuse_path("unsupported_value", v.path, "there is nothing here but transcription");
    must_be_object(v);
  } else if (name == "keywords" && (v.what == value_kind::list || v.what == value_kind::null)) {
    s.keywords.clear();
  } else if (v.what == value_kind::null) {  // the usual
    if (name == "language") s.language = "auto";
    if (name == "speakers") s.speakers = false;
  } else if (name == "model") {
    s.model = word_of(v, "a model's ID");
  } else if (name == "language") {
    s.language = word_of(v, "the name of a language");
    if (s.language.size() > 64) expect(v, "the name of a language");
    if (s.language.empty()) s.language = "auto";
  } else if (name == "keywords[]") {
    s.keywords.push_back(word_of(v, "phrases"));
    std::size_t bytes = 0;
    for (const std::string& k : s.keywords) bytes += k.size();
    if (s.keywords.size() > most_keywords || bytes > longest_keywords)
      expect(v, "at most " + std::to_string(most_keywords) + " phrases of " + std::to_string(longest_keywords) +
                    " bytes in all");
  } else if (name == "speakers") {  // beyond the API
    if (v.what != value_kind::boolean) expect(v, "true or false");
    s.speakers = v.yes;
  } else if (name == "prompt") {
    if (!word_of(v, "text").empty())
      unsupported(v, "no model here reads one while it listens; keywords are favoured, where the model has a use");
  } else if (name == "delay" || name == "languages") {
    unsupported(v, name == "delay" ? "the model's own holds" : "a session has one language, or the model's choice");
  } else {
    unsupported(v, "unknown; there are model, language, keywords and speakers");
  }
}

// What is left when `path` begins with `prefix`; false when it does not.
bool below(const std::string& path, std::string_view prefix, std::string& rest) {
  if (!path.starts_with(prefix)) return false;
  if (path.size() > prefix.size() && path[prefix.size()] != '.') return false;
  rest = path.size() > prefix.size() ? path.substr(prefix.size() + 1) : "";
  return true;
}

void set_one(realtime_settings& s, const flat_value& v) {
  const std::string path = present_path(v.path);
  std::string rest;
  if (path == "type" || path == "event_id") {  // the event's own
  } else if (path == "session" || path == "session.audio" || path == "session.audio.input" ||
             path == "session.audio.input.format") {
    must_be_object(v);
  } else if (path == "session.type") {
    if (word_of(v, "transcription") != "transcription")
      refuse_path("unsupported_value", v.path, "sessions here are of transcription alone");
  } else if (path == "session.audio.input.format.type") {
    set_format(s, v);
  } else if (path == "session.audio.input.format.rate") {  // behind all others
  } else if (path == "session.audio.input.format.beta") {
    set_beta_format(s, v);
  } else if (path == "session.audio.input.noise_reduction") {
    if (v.what != value_kind::null) unsupported(v, "there is none; leave it out, or null");
  } else if (below(path, "session.audio.input.turn_detection", rest)) {
    set_turns(s, rest, v);
  } else if (below(path, "session.audio.input.transcription", rest)) {
    set_transcription(s, rest, v);
  } else if (path == "session.include") {
    if (v.what != value_kind::list && v.what != value_kind::null) expect(v, "a list");
  } else if (path == "session.include[]") {
    unsupported(v, "there are no probabilities of tokens");
  } else {
    refuse_path("unknown_parameter", v.path, "no such field here");
  }
}

}  // namespace

void update_settings(realtime_settings& to, const flat_json& event) {
  if (event.find("session") == nullptr)
    throw realtime_error("missing_required_parameter", "session: is missing", "session");
  realtime_settings next = to;
  for (const flat_value& v : event.values) set_one(next, v);
  if (const flat_value* const rate = event.find("session.audio.input.format.rate")) set_rate(next, *rate);
  to = std::move(next);
}

namespace {

void put_turns(json_builder& j, const realtime_settings& s) {
  j.key("turn_detection");
  if (!s.server_vad) {
    j.none();
    return;
  }
  j.open('{').key("type").text("server_vad").key("threshold").number(0.5);
  j.key("prefix_padding_ms").whole(s.prefix_padding).key("silence_duration_ms").whole(s.silence).close('}');
}
void put_transcription(json_builder& j, const realtime_settings& s) {
  j.open('{').key("model").text(s.model).key("language");
  if (s.language == "auto")
    j.none();
  else
    j.text(s.language);
  if (!s.keywords.empty()) {
    j.key("keywords").open('[');
    for (const std::string& k : s.keywords) j.text(k);
    j.close(']');
  }
  if (s.speakers) j.key("speakers").raw("true");
  j.close('}');
}

}  // namespace

void put_settings(json_builder& j, const realtime_settings& s, const std::string& id, bool beta) {
  const auto how = s.audio.how;
  j.open('{').key("id").text(id).key("object").text("realtime.transcription_session");
  if (beta) {
    j.key("input_audio_format");
    j.text(how == audio_kind::coding::pcm ? "pcm16" : how == audio_kind::coding::mu_law ? "g711_ulaw" : "g711_alaw");
    put_transcription(j.key("input_audio_transcription"), s);
    j.key("input_audio_noise_reduction").none();
    put_turns(j, s);
    j.close('}');
    return;
  }
  j.key("type").text("transcription").key("audio").open('{').key("input").open('{');
  j.key("format").open('{').key("type");
  j.text(how == audio_kind::coding::pcm      ? "audio/pcm"
         : how == audio_kind::coding::mu_law ? "audio/pcmu"
                                             : "audio/pcma");
  if (how == audio_kind::coding::pcm) j.key("rate").whole(s.audio.rate);
  j.close('}').key("noise_reduction").none();
  put_transcription(j.key("transcription"), s);
  put_turns(j, s);
  j.close('}').close('}').key("include").none().close('}');
}

}  // namespace steno::app
