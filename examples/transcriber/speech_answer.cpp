// SPDX-License-Identifier: Apache-2.0
#include "speech_answer.hpp"

#include <steno/tokenizers/unicode_classes.hpp>
#include <steno/tokenizers/whisper_languages.hpp>

#include <utility>

#include "api_error.hpp"
#include "json_builder.hpp"
#include "safe_result.hpp"

namespace steno::app {
namespace {

std::optional<format> file_format(answer_format f) {
  switch (f) {
    case answer_format::text:
      return format::text;
    case answer_format::srt:
      return format::srt;
    case answer_format::vtt:
      return format::vtt;
    case answer_format::json:
    case answer_format::verbose_json:
    case answer_format::diarized_json:
      break;
  }
  return std::nullopt;
}

// The API names languages in English.
std::string english_name(const std::string& language) {
  const int known = tokenizers::find_whisper_language(language);
  return known < 0 ? language : std::string(tokenizers::whisper_languages[known].name);
}

}  // namespace

std::string_view content_type(answer_format f) {
  switch (f) {
    case answer_format::json:
    case answer_format::verbose_json:
    case answer_format::diarized_json:
      return "application/json";
    case answer_format::vtt:
      return "text/vtt; charset=utf-8";
    case answer_format::text:
    case answer_format::srt:
      break;
  }
  return "text/plain; charset=utf-8";
}

speech_answer::speech_answer(const speech_request& asked, style usual)
    : format_(asked.format),
      segments_(asked.segments),
      words_(asked.words),
      translated_(asked.options.decoding.translate.value_or(false)),
      openai_(usual == style::openai),
      stream_(asked.stream),
      original_(format::json, {}, false, cue_) {
  if (const auto f = file_format(format_)) {
    written_.emplace(*f, false, layout{.style = usual});
    written_->begin("file");
  }
}

std::string speech_answer::text() const {
  return openai_ ? std::string(tokenizers::unicode::strip(original_.text())) : text_;
}

std::vector<std::string> speech_answer::add(const segment& heard) {
  if (written_) body_ += written_->add(heard);
  const segment s = safe(heard);
  if (language_.empty()) language_ = s.language;
  original_.add(s);
  pipelines::append_text(text_, s.text);
  if (words_) add_words(s);
  const std::string turn = format_ == answer_format::diarized_json && !s.text.empty() ? add_speaker(s) : "";
  const std::string all = text(), more = all.substr(told_);
  told_ = all.size();
  std::vector<std::string> events;
  if (!stream_) return events;
  if (!more.empty()) {
    json_builder j;
    j.open('{').key("type").text("transcript.text.delta").key("delta").text(more);
    if (!turn.empty()) j.key("segment_id").text("seg_" + std::to_string(turns_));
    events.push_back(std::move(j.close('}')).str());
  }
  if (!turn.empty()) events.push_back(turn);
  return events;
}

std::string speech_answer::add_speaker(const segment& s) {
  json_builder j;
  j.open('{').key("type").text("transcript.text.segment").key("id").text("seg_" + std::to_string(++turns_));
  j.key("start").number(s.start).key("end").number(s.end).key("text").text(s.text);
  const std::string turn = std::move(j.key("speaker").text(s.speaker.value_or("unknown")).close('}')).str();
  turn_list_.append(turn_list_.empty() ? "" : ",").append(turn);
  return turn;
}

void speech_answer::add_words(const segment& s) {
  json_builder j;
  for (const word& w : s.words) {
    if (w.how == timing::none)
      throw api_error(400, "timestamp_granularities[]: this model has no times of words", "unsupported_value",
                      "timestamp_granularities[]");
    j.open('{').key("word").text(w.text).key("start").number(w.start).key("end").number(w.end).close('}');
  }
  if (s.words.empty() && !s.text.empty())
    throw api_error(400, "timestamp_granularities[]: this model has no words", "unsupported_value",
                    "timestamp_granularities[]");
  if (j.str().empty()) return;
  word_list_.append(word_list_.empty() ? "" : ",").append(j.str());
}

std::string speech_answer::end(const result& head) {
  if (written_) return body_ + written_->end(head);
  json_builder j;
  j.open('{');
  if (format_ == answer_format::verbose_json) {
    const std::string language = translated_ ? "en" : head.language.empty() ? language_ : head.language;
    j.key("task").text(translated_ ? "translate" : "transcribe").key("language").text(english_name(language));
    j.key("duration").number(head.duration);
  }
  if (format_ == answer_format::diarized_json) j.key("task").text("transcribe").key("duration").number(head.duration);
  j.key("text").text(text());
  if (format_ == answer_format::diarized_json) {
    j.key("segments").raw("[" + turn_list_ + "]");
    j.key("usage").open('{').key("type").text("duration").key("seconds").number(head.duration).close('}');
  }
  if (format_ == answer_format::verbose_json && segments_) j.key("segments").raw("[" + original_.segments() + "]");
  if (format_ == answer_format::verbose_json && words_) j.key("words").raw("[" + word_list_ + "]");
  return std::move(j.close('}')).str() + "\n";
}

}  // namespace steno::app
