// SPDX-License-Identifier: Apache-2.0
#include "speech_form.hpp"

#include <steno/error.hpp>
#include <steno/tokenizers/whisper_languages.hpp>

#include <algorithm>
#include <charconv>

#include "api_error.hpp"

namespace steno::app {
namespace {

constexpr std::size_t longest_value = 65536;
constexpr std::string_view granularity_field = "timestamp_granularities[]";

[[noreturn]] void refuse_field(const std::string& name, const std::string& why, const char* code) {
  throw api_error(400, name + ": " + why, code, name);
}
[[noreturn]] void wrong_value(const std::string& name, const std::string& expected) {
  refuse_field(name, "expected " + expected, "invalid_value");
}

// A client's word, short enough for a message.
std::string shown_word(std::string_view word) { return core::printable(word.substr(0, 64)); }

bool is_text(std::string_view text) {
  while (!text.empty()) {
    const bool space = text[0] == '\n' || text[0] == '\r' || text[0] == '\t';
    const std::size_t n = space ? 1 : core::detail::printable_bytes(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

// What OpenAI's API has and no model here can honour, or the server does not.
const char* why_unsupported(std::string_view name) {
  if (name == "include[]") return "log probabilities are in response_format verbose_json, as far as the model has them";
  if (name == "known_speaker_names[]" || name == "known_speaker_references[]")
    return "speakers cannot be recognised by samples of theirs";
  return nullptr;
}

// A line each, with or without a weight.
std::vector<core::hotword> hotwords_of(std::string_view lines) {
  std::vector<core::hotword> all;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    try {
      if (auto parsed = core::parse_hotword(line)) all.push_back(std::move(*parsed));
    } catch (const error& e) {
      refuse_field("hotwords", e.what(), "invalid_value");
    }
  }
  return all;
}

}  // namespace

void speech_form::begin(const multipart_part& part) {
  name_ = part.name;
  value_.clear();
  in_file_ = name_ == "file";
  if (in_file_) {
    if (file) refuse_field("file", "there are several; a request has one", "invalid_value");
    if (!part.file) refuse_field("file", "has no file name: send the recording as an upload", "invalid_value");
    file = true;
    return;
  }
  const auto is = [&](std::string_view known) { return name_ == known; };
  if (const char* const why = why_unsupported(name_)) refuse_field(name_, why, "unsupported_parameter");
  if (!is("model") && !is("language") && !is("prompt") && !is("response_format") && !is("temperature") &&
      !is("stream") && !is("hotwords") && !is("chunking_strategy") && !is(granularity_field))
    throw api_error(400, "unknown field \"" + shown_word(name_) + "\"", "unknown_parameter", shown_word(name_));
  if (part.file) refuse_field(name_, "is an uploaded file; expected text", "invalid_value");
}

void speech_form::bytes(std::string_view piece) {
  if (in_file_) return to_(piece);
  if (value_.size() + piece.size() > longest_value)
    refuse_field(name_, "is longer than " + std::to_string(longest_value) + " bytes", "string_above_max_length");
  value_.append(piece);
}

void speech_form::end() {
  if (in_file_) return;
  if (!is_text(value_)) wrong_value(name_, "UTF-8 without control characters");
  if (name_ == granularity_field) {
    if (granularities.size() == 8) wrong_value(name_, "word, segment or both");
    granularities.push_back(std::move(value_));
    return;
  }
  std::optional<std::string>& to = name_ == "model"               ? model
                                   : name_ == "language"          ? language
                                   : name_ == "prompt"            ? prompt
                                   : name_ == "response_format"   ? response_format
                                   : name_ == "temperature"       ? temperature
                                   : name_ == "hotwords"          ? hotwords
                                   : name_ == "chunking_strategy" ? chunking_strategy
                                                                  : stream;
  if (to) refuse_field(name_, "is given twice", "invalid_value");
  to = std::move(value_);
}

speech_request read_form(const speech_form& form, bool translate) {
  if (!form.file) throw api_error(400, "file: the recording is missing", "missing_required_parameter", "file");
  speech_request r;
  const std::string format = form.response_format.value_or("json");
  if (format == "json")
    r.format = answer_format::json;
  else if (format == "text")
    r.format = answer_format::text;
  else if (format == "srt")
    r.format = answer_format::srt;
  else if (format == "vtt")
    r.format = answer_format::vtt;
  else if (format == "verbose_json")
    r.format = answer_format::verbose_json;
  else if (format == "diarized_json")
    r.format = answer_format::diarized_json;
  else
    wrong_value("response_format", "json, text, srt, vtt, verbose_json or diarized_json");
  if (!form.granularities.empty()) {
    const std::string name(granularity_field);
    if (r.format != answer_format::verbose_json)
      refuse_field(name, "needs response_format verbose_json", "invalid_value");
    r.segments = false;
    for (const std::string& g : form.granularities) {
      if (g != "word" && g != "segment") wrong_value(name, "word or segment");
      (g == "word" ? r.words : r.segments) = true;
    }
  }
  // What "auto" says is done in any case; settings of a detector in a request are not taken.
  if (form.chunking_strategy && *form.chunking_strategy != "auto")
    refuse_field("chunking_strategy", "recordings are cut as the server was started; auto is taken",
                 "unsupported_value");
  if (form.stream && *form.stream != "true" && *form.stream != "false") wrong_value("stream", "true or false");
  r.stream = form.stream == "true";
  if (r.stream && r.format != answer_format::json && r.format != answer_format::text &&
      r.format != answer_format::diarized_json)
    refuse_field("stream", "events need response_format json, text or diarized_json", "unsupported_value");
  if (form.temperature) {
    double t = 0;
    const char* const end = form.temperature->data() + form.temperature->size();
    const auto parsed = std::from_chars(form.temperature->data(), end, t);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(t >= 0 && t <= 1)) wrong_value("temperature", "0 to 1");
    // 0 is what the API calls the model's own way: greedy, and warmer where that fails.
    if (t > 0) r.options.decoding.temperature = {t};
  }
  if (form.prompt && !form.prompt->empty()) r.options.decoding.initial_prompt = *form.prompt;
  if (translate) r.options.decoding.translate = true;
  if (form.hotwords) r.options.hotwords = hotwords_of(*form.hotwords);
  return r;
}

void fit_to_model(speech_request& r, const speech_form& form, const served_model& of) {
  const transcriber& model = of.model;
  r.options.language = of.recording.language;
  r.options.beam = of.recording.beam;
  r.options.hotwords = of.recording.hotwords;
  r.options.hotword_score = of.recording.hotword_score;
  r.options.look_ahead = of.recording.look_ahead;
  const auto need = [&](std::string_view option, const char* field, const std::string& why) {
    if (!model.supports(option)) refuse_field(field, why, "unsupported_value");
  };
  if (r.format == answer_format::diarized_json && of.speakers == nullptr)
    refuse_field("response_format", "diarized_json needs a server with a model of speakers (--speakers), for 16 kHz",
                 "unsupported_value");
  if (r.options.decoding.translate && !model.supports("translate"))
    throw api_error(400, "this model does not translate", "unsupported_value", "model");
  if (r.options.decoding.temperature) need("temperature", "temperature", "this model takes no samples; leave it out");
  if (r.options.decoding.initial_prompt) need("initial_prompt", "prompt", "this model reads none; leave it out");
  if (form.hotwords && !r.options.hotwords.empty()) {
    need("hotwords", "hotwords", "this model takes none; leave them out");
    // What a model reads is paid for at every step of it.
    constexpr std::size_t longest_prompt = 4096;
    if (!model.supports("hotword_score") && form.hotwords->size() > longest_prompt)
      refuse_field("hotwords", "this model reads them by itself: at most " + std::to_string(longest_prompt) + " bytes",
                   "string_above_max_length");
    if (!model.supports("hotword_score"))
      for (const core::hotword& h : r.options.hotwords)
        if (h.weight != 1)
          refuse_field("hotwords", "this model reads them by itself, and takes no weights", "invalid_value");
  }
  if (form.language && !form.language->empty() && *form.language != "auto") {
    need("language", "language", "this model hears the languages it was trained for; leave it out");
    r.options.language = language_of_model(model, *form.language);
    if (!model.supports_language(r.options.language)) {
      std::string known;
      for (const std::string& l : model.languages()) known += (known.empty() ? "" : ", ") + l;
      refuse_field("language", "this model knows " + known, "invalid_value");
    }
  }
  if (r.words && model.supports("word_timestamps")) r.options.decoding.word_timestamps = true;
}

std::string language_of_model(const transcriber& model, const std::string& named) {
  std::string small = named;
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const int known = tokenizers::find_whisper_language(small);
  const std::string code(known < 0 ? "" : tokenizers::whisper_languages[known].code);
  for (const std::string& spelled : {named, small, code})
    if (!spelled.empty() && model.supports_language(spelled)) return spelled;
  return named;
}

}  // namespace steno::app
