#include "writers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "cues.hpp"
#include "digits.hpp"
#include "json_result.hpp"
#include "nist_writer.hpp"
#include "replaced.hpp"
#include "safe_result.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

constexpr std::string_view format_extensions[] = {".txt", ".json", ".jsonl", ".srt", ".vtt",
                                                  ".tsv", ".rttm", ".ctm",   ".stm"};

long long milliseconds(double seconds) {
  return std::isfinite(seconds) && seconds > 0 ? std::llround(std::min(seconds, 1e12) * 1000.0) : 0;
}

std::string vtt_escaped(std::string text) {
  return replaced(replaced(replaced(std::move(text), "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

}  // namespace

std::optional<format> find_format(std::string_view name) {
  if (name == "txt") return format::text;
  const auto* at = std::find(std::begin(format_names), std::end(format_names), name);
  if (at == std::end(format_names)) return std::nullopt;
  return static_cast<format>(at - std::begin(format_names));
}

std::string_view extension(format f) { return format_extensions[static_cast<std::size_t>(f)]; }

std::string clock_text(double seconds, char point) {
  const long long ms = milliseconds(seconds);
  return padded(ms / 3600000, 2) + ":" + padded(ms / 60000 % 60, 2) + ":" + padded(ms / 1000 % 60, 2) + point +
         padded(ms % 1000, 3);
}

cue_limits writer::limits() const {
  cue_limits l;
  if (layout_.lines.max_line_width > 0) l.columns = layout_.lines.max_line_width;
  if (layout_.lines.max_line_count > 0) l.lines = layout_.lines.max_line_count;
  return l;
}

std::string writer::subtitle(const std::optional<cue>& c) {
  if (!c) return "";
  const bool srt = format_ == format::srt;
  const char point = srt ? ',' : '.';
  std::string out = srt ? std::to_string(next_cue_++) + "\n" : "";
  out.append(clock_text(c->start, point)).append(" --> ").append(clock_text(c->end, point)).append("\n");
  if (!srt && layout_.speakers && !c->speaker.empty()) out.append("<v ").append(vtt_escaped(c->speaker)).append(">");
  for (const std::string& line : c->lines)  // an arrow would be a time line
    out.append(srt ? replaced(line, "-->", "->") : vtt_escaped(line)).append("\n");
  return out.append("\n");
}

std::string writer::tsv(const segment& s) const {
  const std::string text = one_line(s.text);
  if (text.empty()) return "";
  const std::string who = layout_.speakers ? one_line(s.speaker.value_or("")) + "\t" : "";
  return std::to_string(milliseconds(s.start)) + "\t" + std::to_string(milliseconds(s.end)) + "\t" + who + text + "\n";
}

// On a line that grows: of the recording, or of a speaker.
std::string writer::add_text(const segment& s) {
  std::string text = one_line(s.text), out;
  if (text.empty()) return out;
  if (layout_.speakers && (!turn_ || *turn_ != s.speaker)) {
    if (turn_) out += "\n";
    if (s.speaker) out.append(one_line(*s.speaker)).append(": ");
    turn_ = s.speaker;
    last_.clear();
  }
  std::string joined = last_;
  pipelines::append_text(joined, text);
  out += joined.substr(last_.size());
  last_ = std::move(text);
  return out;
}

// What stands before the first segment of a file.
std::string writer::opening() {
  if (begun_) return "";
  begun_ = true;
  std::string out;
  if (format_ == format::vtt) {
    if (first_) out += "WEBVTT\n\n";
    if (several_) out += "NOTE " + replaced(one_line(audio_), "-->", "->") + "\n\n";
  }
  if (format_ == format::tsv && first_) out += layout_.speakers ? "start\tend\tspeaker\ttext\n" : "start\tend\ttext\n";
  if (format_ == format::text && layout_.speakers && several_ && !first_) out += "\n";
  first_ = false;
  return out;
}

void writer::begin(std::string_view audio, std::string_view name) {
  audio_ = result_text(audio);
  name_ = result_text(name.empty() ? audio : name);
  turn_.reset();
  begun_ = false;
  language_.clear();
  last_.clear();
  cues_ = {};
  json_ = json_document(layout_.speakers);
  if (as_openai()) openai_.emplace(format_, layout_.lines, layout_.words, next_cue_, layout_.speakers);
}

std::string writer::add(const segment& heard, std::optional<int> channel) {
  const segment s = safe(heard);
  std::string out = opening();
  if (language_.empty()) language_ = s.language;
  if (openai_) return out + openai_->add(s);
  // Only openai's writers show what has neither words nor a speaker.
  if (s.text.empty() && s.token_ids.empty() && !s.speaker) return out;
  switch (format_) {
    case format::text:
      out += add_text(s);
      break;
    case format::json:
      json_.add(s, channel);
      break;
    case format::jsonl:
      out += json_line(audio_, language_, s, layout_.speakers, channel);
      break;
    case format::srt:
    case format::vtt:
      for (cue& c : split_cues(s, limits(), layout_.speakers && format_ == format::srt))
        out += subtitle(cues_.next(std::move(c)));
      break;
    case format::tsv:
      out += tsv(s);
      break;
    case format::rttm:
      out += rttm_line(name_, s, channel.value_or(1));
      break;
    case format::ctm:
      out += ctm_lines(name_, s, layout_.speakers, channel.value_or(1));
      break;
    case format::stm:
      out += stm_line(name_, s, channel.value_or(1));
      break;
  }
  return out;
}

std::string writer::end(const result& heard) {
  const result head = safe(heard);
  std::string out = opening();
  if (openai_) {
    out += openai_->end(head);
    if (format_ == format::json && several_) out += "\n";
    begin("");
    return out;
  }
  if (format_ == format::text) out += "\n";
  if (format_ == format::srt || format_ == format::vtt) out += subtitle(cues_.last(head.duration));
  if (format_ == format::json) out.append(json_.end(audio_, head)).append("\n");
  begin("");
  return out;
}

std::string writer::cut(double seconds_done) {
  if (!begun_) return "";
  result head;
  head.duration = seconds_done;
  head.language = language_;
  head.extra = {{"interrupted_at", seconds_done}};
  return end(head);
}

std::string writer::add(std::string_view audio, const result& r) {
  begin(audio);
  std::string out;
  for (const segment& s : r.segments) out += add(s);
  return out + end(r);
}

}  // namespace steno::app
