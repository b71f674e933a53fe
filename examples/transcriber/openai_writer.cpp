// SPDX-License-Identifier: Apache-2.0
#include "openai_writer.hpp"

#include <steno/tokenizers/unicode_classes.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "cues.hpp"
#include "digits.hpp"
#include "format_writer.hpp"
#include "replaced.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

// A cue ends at an empty line.
std::string without_empty_lines(std::string text) {
  text.erase(0, std::min(text.find_first_not_of('\n'), text.size()));
  text.resize(text.find_last_not_of('\n') + 1);
  for (std::size_t at = 0; (at = text.find("\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string stripped(const std::string& text) { return std::string(tokenizers::unicode::strip(text)); }

// Python's len().
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Python's round(): ties to even.
long long even_milliseconds(double seconds) {
  return std::isfinite(seconds) && seconds > 0 ? std::llrint(std::min(seconds, 1e12) * 1000.0) : 0;
}

// re.sub(r"^(\s*)(.*)$", r"\1<u>\2</u>", word): nothing happens to a word with a line break inside.
std::string underlined(const std::string& word) {
  std::size_t lead = word.size();
  const std::string_view bare = tokenizers::unicode::strip(word);
  if (!bare.empty()) lead = static_cast<std::size_t>(bare.data() - word.data());
  std::string rest = word.substr(lead), tail;
  if (rest.ends_with('\n')) {
    rest.pop_back();
    tail = "\n";
  }
  if (rest.find('\n') != std::string::npos) return word;
  return word.substr(0, lead) + "<u>" + rest + "</u>" + tail;
}

std::optional<double> number(const segment& s, std::string_view name) {
  for (const auto& [key, value] : s.extra)
    if (key == name)
      if (const double* x = std::get_if<double>(&value)) return *x;
  return std::nullopt;
}
// Whisper's own segments have its figures.
bool from_whisper(const segment& s) { return number(s, "avg_logprob").has_value(); }

// What the model wrote: with a space in front, unless Whisper says otherwise.
std::string raw_text(const segment& s) {
  if (from_whisper(s))
    for (const auto& [key, value] : s.extra)
      if (key == "raw_text")
        if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return s.text.empty() || begins_wide(s.text) ? s.text : " " + s.text;
}

// The words with the space in front of them. Whisper writes it; of others it is the text's.
std::vector<std::string> raw_words(const segment& s) {
  if (std::all_of(s.words.begin(), s.words.end(), [](const word& w) { return w.space.empty(); }) && !from_whisper(s)) {
    std::vector<std::string> all = words_as_written(s);
    if (!all.empty() && !begins_wide(all[0]) && !all[0].starts_with(' ')) all[0].insert(0, 1, ' ');
    return all;
  }
  std::vector<std::string> all;
  for (const word& w : s.words) all.push_back(w.space + w.text);
  return all;
}

// As Python's json.dump() writes them.
std::string text_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}
std::string number_json(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  return nlohmann::json(x).dump();
}
// What was not computed is null, and not a number that looks like one.
std::string whole_or_null(std::optional<double> x) { return x ? std::to_string(std::llrint(*x)) : "null"; }
std::string number_or_null(std::optional<double> x) { return x ? number_json(*x) : "null"; }

bool all_timed(const segment& s) {
  return std::none_of(s.words.begin(), s.words.end(), [](const word& w) { return w.how == timing::none; });
}

}  // namespace

std::string openai_writer::clock(double seconds) const {
  const long long ms = even_milliseconds(seconds), hours = ms / 3600000;
  std::string text;
  if (format_ == format::srt || hours > 0) text = padded(hours, 2) + ":";
  text.append(padded(ms / 60000 % 60, 2)).append(":").append(padded(ms / 1000 % 60, 2));
  return text.append(format_ == format::srt ? "," : ".").append(padded(ms % 1000, 3));
}

std::string openai_writer::cue(const std::string& start, const std::string& end, const std::string& text) {
  std::string out = format_ == format::srt ? std::to_string((*next_cue_)++) + "\n" : "";
  return out.append(start).append(" --> ").append(end).append("\n").append(without_empty_lines(text)).append("\n\n");
}

// What stands before the text of a speaker.
std::string openai_writer::named(const std::string& speaker) const {
  if (!speakers_ || speaker.empty()) return "";
  if (format_ != format::vtt) return one_line(speaker) + ": ";
  return "<v " + replaced(replaced(replaced(one_line(speaker), "&", "&amp;"), "<", "&lt;"), ">", "&gt;") + ">";
}

// The cue that is whole now.
std::string openai_writer::flush() {
  if (subtitle_.empty()) return "";
  const std::vector<piece> words = std::exchange(subtitle_, {});
  const auto joined = [&](std::size_t marked) {
    std::string text = named(speaker_);
    for (std::size_t i = 0; i < words.size(); ++i) text += i == marked ? underlined(words[i].text) : words[i].text;
    return text;
  };
  const std::string plain = joined(words.size());
  const std::string first = clock(words[0].start);
  if (!lines_.highlight_words) return cue(first, clock(words.back().end), plain);
  std::string out, last = first;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string start = clock(words[i].start), end = clock(words[i].end);
    if (last != start) out += cue(last, start, plain);
    out += cue(start, end, joined(i));
    last = end;
  }
  return out;
}

std::string openai_writer::add_words(const segment& s) {
  const bool keep_segments = lines_.max_line_count == 0 || lines_.max_line_width == 0;
  const auto width = static_cast<std::size_t>(lines_.max_line_width > 0 ? lines_.max_line_width : 1000);
  const auto at_once = static_cast<std::size_t>(lines_.max_words_per_line > 0 ? lines_.max_words_per_line : 1000);
  std::string out;
  if (speakers_ && s.speaker.value_or("") != speaker_) {
    out += flush();
    speaker_ = s.speaker.value_or("");
    line_length_ = 0;
    line_count_ = 1;
  }
  const std::vector<std::string> words = raw_words(s);
  for (std::size_t i = 0; i < s.words.size(); ++i) {
    const word& w = s.words[i];
    std::string text = words[i];
    const bool long_pause = !keep_segments && w.start - last_.value_or(w.start) > 3.0;
    const bool room = line_length_ + characters(text) <= width;
    const bool breaks = i % at_once == 0 && !subtitle_.empty() && keep_segments;
    if (line_length_ > 0 && room && !long_pause && !breaks) {
      line_length_ += characters(text);
    } else {
      text = stripped(text);
      const std::size_t length = characters(text);
      if ((!subtitle_.empty() && lines_.max_line_count > 0 && (long_pause || line_count_ >= lines_.max_line_count)) ||
          breaks) {
        out += flush();
        line_count_ = 1;
      } else if (line_length_ > 0) {
        ++line_count_;
        text = std::string(1, '\n').append(text);
      }
      line_length_ = length;
    }
    subtitle_.push_back({std::move(text), w.start, w.end});
    last_ = w.start;
  }
  return out;
}

std::string openai_writer::add(const segment& s) {
  const std::string text = raw_text(s);
  const std::string who = named(s.speaker.value_or(""));
  if (format_ == format::text) return who + stripped(text) + "\n";
  if (format_ == format::srt || format_ == format::vtt) {
    if (words_ && all_timed(s)) return add_words(s);
    const std::string before = flush();
    return before + cue(clock(s.start), clock(s.end), who + replaced(stripped(text), "-->", "->"));
  }
  if (format_ == format::tsv)
    return std::to_string(even_milliseconds(s.start)) + "\t" + std::to_string(even_milliseconds(s.end)) + "\t" +
           (speakers_ ? one_line(s.speaker.value_or("")) + "\t" : "") +
           replaced(replaced(stripped(text), "\t", " "), "\n", " ") + "\n";
  text_ += text;
  std::string& j = json_;
  j.append(next_id_ == 0 ? "" : ", ").append("{\"id\": ").append(std::to_string(next_id_));
  ++next_id_;
  j.append(", \"seek\": ").append(whole_or_null(number(s, "seek")));
  j.append(", \"start\": ").append(number_json(s.start)).append(", \"end\": ").append(number_json(s.end));
  j.append(", \"text\": ").append(text_json(text)).append(", \"tokens\": [");
  for (std::size_t i = 0; i < s.token_ids.size(); ++i)
    j.append(i == 0 ? "" : ", ").append(std::to_string(s.token_ids[i]));
  j.append("]");
  for (const char* key : {"temperature", "avg_logprob", "compression_ratio", "no_speech_prob"})
    j.append(", \"").append(key).append("\": ").append(number_or_null(number(s, key)));
  if (words_) {
    j.append(", \"words\": [");
    const std::vector<std::string> words = raw_words(s);
    for (std::size_t i = 0; i < s.words.size(); ++i) {
      const word& w = s.words[i];
      j.append(i == 0 ? "" : ", ").append("{\"word\": ").append(text_json(words[i]));
      const auto time = [&](double t) { return w.how == timing::none ? std::nullopt : std::optional(t); };
      j.append(", \"start\": ").append(number_or_null(time(w.start)));
      j.append(", \"end\": ").append(number_or_null(time(w.end)));
      const bool known = std::isfinite(w.confidence) && w.how != timing::aligned;
      j.append(", \"probability\": ").append(known ? number_json(static_cast<double>(w.confidence)) : "null");
      if (speakers_) j.append(", \"speaker\": ").append(w.speaker ? text_json(*w.speaker) : "null");
      j.append("}");
    }
    j.append("]");
  }
  if (speakers_) j.append(", \"speaker\": ").append(s.speaker ? text_json(*s.speaker) : "null");
  j.append("}");
  return "";
}

std::string openai_writer::end(const result& head) {
  if (format_ != format::json) return flush();
  return "{\"text\": " + text_json(text_) + ", \"segments\": [" + json_ +
         "], \"language\": " + text_json(head.language) + "}";
}

namespace {

// The original's writers, recording after recording; subtitles are numbered through all of them.
class openai_recordings final : public format_writer {
 public:
  openai_recordings(format f, const layout& l) : format_(f), layout_(l) {}
  std::string begin(const recording_place& at) override {
    several_ = at.several;
    writer_.emplace(format_, layout_.lines, layout_.words, next_cue_, layout_.speakers);
    if (format_ == format::vtt) return vtt_opening(at);
    return format_ == format::tsv && at.first ? tsv_header(layout_.speakers) : "";
  }
  std::string add(const segment& s, std::optional<int>) override { return writer_->add(s); }
  std::string end(const result& head) override {
    return writer_->end(head) + (format_ == format::json && several_ ? "\n" : "");
  }

 private:
  format format_;
  layout layout_;
  bool several_ = false;
  int next_cue_ = 1;
  std::optional<openai_writer> writer_;
};

}  // namespace

std::unique_ptr<format_writer> make_openai_writer(format f, const layout& l) {
  return std::make_unique<openai_recordings>(f, l);
}

}  // namespace steno::app
