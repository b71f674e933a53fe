// SPDX-License-Identifier: Apache-2.0
#include "speech_writer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "digits.hpp"
#include "json_builder.hpp"
#include "nist_writer.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

constexpr std::string_view speech_format_names[] = {"text", "json", "jsonl", "rttm"};
constexpr std::string_view extensions[] = {".txt", ".json", ".jsonl", ".rttm"};

std::string seconds(std::int64_t ms) { return std::to_string(ms / 1000) + "." + padded(ms % 1000, 3); }
void add_span(json_builder& j, const streaming::voice_segment& s) {
  j.key("start").number(static_cast<double>(s.start_ms) / 1000);
  j.key("end").number(static_cast<double>(s.end_ms) / 1000);
}

}  // namespace

std::optional<speech_format> find_speech_format(std::string_view name) {
  const auto* at = std::find(std::begin(speech_format_names), std::end(speech_format_names), name);
  if (at == std::end(speech_format_names)) return std::nullopt;
  return static_cast<speech_format>(at - std::begin(speech_format_names));
}

std::string_view extension(speech_format f) { return extensions[static_cast<std::size_t>(f)]; }

std::string speech_line(speech_format f, std::string_view audio, std::string_view name, bool several,
                        const streaming::voice_segment& s, std::string_view speaker) {
  if (f == speech_format::rttm) {
    return "SPEAKER " + nist_field(name) + " 1 " + seconds(s.start_ms) + " " + seconds(s.end_ms - s.start_ms) +
           " <NA> <NA> " + (speaker.empty() ? "speech" : nist_field(speaker)) + " <NA> <NA>\n";
  }
  std::string line = several ? one_line(audio) : "";
  line.append(several ? "\t" : "").append(seconds(s.start_ms)).append("\t").append(seconds(s.end_ms));
  return line.append(speaker.empty() ? "" : "\t").append(speaker).append("\n");
}

std::string speech_writer::add(std::string_view audio, std::string_view name, const streaming::voice_segment& s) {
  if (format_ == speech_format::json) {
    segments_.push_back(s);
    return "";
  }
  if (format_ == speech_format::jsonl) {
    json_builder j;
    add_span(j.open('{').key("audio").text(result_text(audio)), s);
    return std::move(j.close('}')).str() + "\n";
  }
  return speech_line(format_, audio, name, several_, s, "");
}

std::string speech_writer::end(std::string_view audio, double duration) {
  if (format_ != speech_format::json) return "";
  std::int64_t speech = 0;
  json_builder list;
  list.open('[');
  for (const streaming::voice_segment& s : segments_) {
    speech += s.end_ms - s.start_ms;
    add_span(list.open('{'), s);
    list.close('}');
  }
  list.close(']');
  segments_.clear();
  json_builder j;
  j.open('{').key("model").text(model_).key("audio").text(result_text(audio)).key("duration").number(duration);
  j.key("speech").number(static_cast<double>(speech) / 1000).key("segments").raw(list.str()).close('}');
  return std::move(j).str() + "\n";
}

}  // namespace steno::app
