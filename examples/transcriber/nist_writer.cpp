// SPDX-License-Identifier: Apache-2.0
#include "nist_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "digits.hpp"
#include "format_writer.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

bool all_words_timed(const segment& s) {
  return !s.words.empty() &&
         std::none_of(s.words.begin(), s.words.end(), [](const word& w) { return w.how == timing::none; });
}

// From its first word to the end of its last one, where they have times.
std::pair<double, double> spoken(const segment& s) {
  double start = s.start, end = s.end;
  if (all_words_timed(s)) {
    start = s.words.front().start;
    end = start;
    for (const word& w : s.words) end = std::max(end, w.end);
  }
  return {start, std::max(start, end)};
}

std::int64_t whole_ms(double seconds) {
  return std::isfinite(seconds) && seconds > 0 ? std::llround(std::min(seconds, 1e12) * 1000) : 0;
}
class nist_writer final : public format_writer {
 public:
  nist_writer(format f, bool speakers) : format_(f), speakers_(speakers) {}
  std::string begin(const recording_place& at) override {
    name_ = at.name;
    return {};
  }
  std::string add(const segment& s, std::optional<int> channel) override {
    const int of = channel.value_or(1);
    if (format_ == format::rttm) return rttm_line(name_, s, of);
    return format_ == format::ctm ? ctm_lines(name_, s, speakers_, of) : stm_line(name_, s, of);
  }
  std::string end(const result&) override { return {}; }

 private:
  format format_;
  bool speakers_;
  std::string name_;
};

std::string ms_text(std::int64_t ms) { return std::to_string(ms / 1000) + "." + padded(ms % 1000, 3); }
// Start and duration, which end where the rounded end is.
std::string span_text(double start, double end) {
  const std::int64_t from = whole_ms(start);
  return ms_text(from) + " " + ms_text(std::max<std::int64_t>(0, whole_ms(end) - from));
}

}  // namespace

std::unique_ptr<format_writer> make_nist_writer(format f, const layout& l) {
  return std::make_unique<nist_writer>(f, l.speakers);
}

std::string nist_field(std::string_view name) {
  std::string field = printable(name);
  std::replace_if(
      field.begin(), field.end(), [](char c) { return c == ' ' || c == '?'; }, '_');
  return field.empty() ? "<NA>" : field;
}

std::string nist_seconds(double seconds) { return ms_text(whole_ms(seconds)); }

std::string rttm_line(std::string_view file, const segment& s, int channel) {
  const auto [start, end] = spoken(s);
  if (!s.speaker || whole_ms(end) <= whole_ms(start)) return "";
  return "SPEAKER " + nist_field(file) + " " + std::to_string(channel) + " " + span_text(start, end) + " <NA> <NA> " +
         nist_field(*s.speaker) + " <NA> <NA>\n";
}

std::string ctm_lines(std::string_view file, const segment& s, bool speakers, int channel) {
  const std::string text = one_line(s.text), id = nist_field(file);
  if (text.empty() && s.words.empty()) return "";
  if (!all_words_timed(s))
    return ";; " + id + " " + nist_seconds(s.start) + " " + nist_seconds(s.end) + " words without times: " + text +
           "\n";
  std::string all;
  for (const word& w : s.words) {
    const std::string written = one_line(w.text);
    if (written.empty()) continue;
    std::string field = written;
    std::replace(field.begin(), field.end(), ' ', '_');
    all.append(id)
        .append(" ")
        .append(std::to_string(channel))
        .append(" ")
        .append(span_text(w.start, w.end))
        .append(" ")
        .append(field)
        .append(" ");
    const bool known = w.how == timing::native && std::isfinite(w.confidence);
    all += known ? nist_seconds(static_cast<double>(w.confidence)) : "NA";
    if (speakers) all.append(" lex ").append(w.speaker ? nist_field(*w.speaker) : "unknown");
    all += '\n';
  }
  return all;
}

std::string stm_line(std::string_view file, const segment& s, int channel) {
  const std::string text = one_line(s.text);
  if (text.empty()) return "";
  const auto [start, end] = spoken(s);
  return nist_field(file) + " " + std::to_string(channel) + " " + (s.speaker ? nist_field(*s.speaker) : "unknown") +
         " " + nist_seconds(start) + " " + nist_seconds(end) + " " + text + "\n";
}

}  // namespace steno::app
