#include "speech_writer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "digits.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view names[] = {"text", "json", "jsonl", "rttm"};
constexpr std::string_view extensions[] = {".txt", ".json", ".jsonl", ".rttm"};

std::string seconds(std::int64_t ms) { return std::to_string(ms / 1000) + "." + padded(ms % 1000, 3); }
json number(std::int64_t ms) { return static_cast<double>(ms) / 1000; }
std::string line(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

}  // namespace

std::optional<speech_format> find_speech_format(std::string_view name) {
  const auto* at = std::find(std::begin(names), std::end(names), name);
  if (at == std::end(names)) return std::nullopt;
  return static_cast<speech_format>(at - std::begin(names));
}

std::string_view extension(speech_format f) { return extensions[static_cast<std::size_t>(f)]; }

std::string speech_line(speech_format f, std::string_view audio, std::string_view name, bool several,
                        const voice_segment& s, std::string_view speaker) {
  if (f == speech_format::rttm) {
    std::string id = printable(name);
    std::replace_if(
        id.begin(), id.end(), [](char c) { return c == ' ' || c == '?'; }, '_');
    return "SPEAKER " + id + " 1 " + seconds(s.start_ms) + " " + seconds(s.end_ms - s.start_ms) + " <NA> <NA> " +
           std::string(speaker.empty() ? "speech" : speaker) + " <NA> <NA>\n";
  }
  std::string line = several ? one_line(audio) : "";
  line.append(several ? "\t" : "").append(seconds(s.start_ms)).append("\t").append(seconds(s.end_ms));
  return line.append(speaker.empty() ? "" : "\t").append(speaker).append("\n");
}

std::string speech_writer::add(std::string_view audio, std::string_view name, const voice_segment& s) {
  if (format_ == speech_format::json) {
    segments_.push_back(s);
    return "";
  }
  if (format_ == speech_format::jsonl)
    return line({{"audio", result_text(audio)}, {"start", number(s.start_ms)}, {"end", number(s.end_ms)}});
  return speech_line(format_, audio, name, several_, s, "");
}

std::string speech_writer::end(std::string_view audio, double duration) {
  if (format_ != speech_format::json) return "";
  std::int64_t speech = 0;
  json list = json::array();
  for (const voice_segment& s : segments_) {
    speech += s.end_ms - s.start_ms;
    list.push_back({{"start", number(s.start_ms)}, {"end", number(s.end_ms)}});
  }
  segments_.clear();
  return line({{"model", model_},
               {"audio", result_text(audio)},
               {"duration", std::round(duration * 1000) / 1000},
               {"speech", number(speech)},
               {"segments", std::move(list)}});
}

}  // namespace steno::app
