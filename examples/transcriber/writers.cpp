// SPDX-License-Identifier: Apache-2.0
#include "writers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "digits.hpp"
#include "safe_result.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

// Text by lines is steno's own: the original knows segments alone.
bool as_openai(format f, const layout& l) {
  const bool by_lines = f == format::text && (l.rows != text_rows::usual || l.timestamps || l.colours);
  return l.style == style::openai && facts(f).of_openai && !by_lines;
}

}  // namespace

long long milliseconds(double seconds) {
  return std::isfinite(seconds) && seconds > 0 ? std::llround(std::min(seconds, 1e12) * 1000.0) : 0;
}

std::string clock_text(double seconds, char point) {
  const long long ms = milliseconds(seconds);
  return padded(ms / 3600000, 2) + ":" + padded(ms / 60000 % 60, 2) + ":" + padded(ms / 1000 % 60, 2) + point +
         padded(ms % 1000, 3);
}

std::unique_ptr<format_writer> make_format_writer(format f, const layout& l) {
  if (as_openai(f, l)) return make_openai_writer(f, l);
  switch (f) {
    case format::text:
    case format::md:
      return make_text_writer(f, l);
    case format::json:
    case format::jsonl:
      return make_json_writer(f, l);
    case format::srt:
    case format::vtt:
    case format::ass:
    case format::lrc:
      return make_subtitle_writer(f, l);
    case format::tsv:
    case format::csv:
      return make_table_writer(f, l);
    case format::rttm:
    case format::ctm:
    case format::stm:
      break;
  }
  return make_nist_writer(f, l);
}

writer::writer(format f, bool several, const layout& l)
    : format_(make_format_writer(f, l)), all_segments_(as_openai(f, l)) {
  place_.several = several;
}

// What stands before the first segment of a file.
std::string writer::opening() {
  if (std::exchange(begun_, true)) return "";
  std::string out = format_->begin(place_);
  place_.first = false;
  return out;
}

void writer::begin(std::string_view audio, std::string_view name) {
  place_.audio = result_text(audio);
  place_.name = result_text(name.empty() ? audio : name);
  begun_ = false;
  language_.clear();
}

std::string writer::add(const segment& heard, std::optional<int> channel) {
  const segment s = safe(heard);
  std::string out = opening();
  if (language_.empty()) language_ = s.language;
  // Only openai's writers show what has neither words nor a speaker.
  if (s.text.empty() && s.token_ids.empty() && !s.speaker && !all_segments_) return out;
  return out + format_->add(s, channel);
}

std::string writer::end(const result& heard) {
  std::string out = opening();
  out += format_->end(safe(heard));
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
