#include "json_result.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace steno::app {
namespace {

using json = nlohmann::ordered_json;

// At most three decimals; JSON knows no infinity.
json number(double x) { return std::isfinite(x) ? json(std::round(x * 1000.0) / 1000.0) : json(nullptr); }

std::string_view name(timing how) {
  return how == timing::native ? "native" : how == timing::aligned ? "aligned" : "none";
}

json extras(const std::vector<extra_field>& fields) {
  json object = json::object();
  for (const auto& [key, value] : fields) {
    json& field = object[key];
    if (const auto* text = std::get_if<std::string>(&value)) field = *text;
    if (const auto* x = std::get_if<double>(&value)) field = number(*x);
    if (const auto* list = std::get_if<scored_texts>(&value)) {
      field = json::array();
      for (const auto& [entry, score] : *list) field.push_back({{"text", entry}, {"score", number(score)}});
    }
    if (const auto* rows = std::get_if<std::vector<extra_row>>(&value)) {
      field = json::array();
      for (const extra_row& row : *rows) {
        json cells = json::object();
        for (const auto& [name, cell] : row) {
          const double* const x = std::get_if<double>(&cell);
          cells[name] = x != nullptr ? number(*x) : json(std::get<std::string>(cell));
        }
        field.push_back(std::move(cells));
      }
    }
  }
  return object;
}

json word_object(const word& w) {
  json object;
  object["word"] = w.text;
  if (w.how != timing::none) {
    object["start"] = number(w.start);
    object["end"] = number(w.end);
  }
  object["confidence"] = number(static_cast<double>(w.confidence));
  object["timing"] = name(w.how);
  return object;
}

void add_segment(json& object, const segment& s) {
  object["start"] = number(s.start);
  object["end"] = number(s.end);
  object["text"] = s.text;
  object["token_ids"] = s.token_ids;
  object["speaker"] = s.speaker ? json(*s.speaker) : json(nullptr);
  object["words"] = json::array();
  for (const word& w : s.words) object["words"].push_back(word_object(w));
  if (!s.extra.empty()) object["extra"] = extras(s.extra);
}

std::string line(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string json_object(std::string_view audio, const result& r) {
  json object;
  object["model"] = r.model;
  object["audio"] = std::string(audio);
  object["duration"] = number(r.duration);
  object["language"] = r.language;
  object["text"] = r.text;
  object["segments"] = json::array();
  for (const segment& s : r.segments) {
    json entry;
    add_segment(entry, s);
    if (!s.language.empty() && s.language != r.language) entry["extra"]["language"] = s.language;
    object["segments"].push_back(std::move(entry));
  }
  object["extra"] = extras(r.extra);
  return line(object);
}

std::string json_line(std::string_view audio, std::string_view language, const segment& s) {
  json object;
  object["audio"] = std::string(audio);
  object["language"] = s.language.empty() ? std::string(language) : s.language;
  add_segment(object, s);
  return line(object) + "\n";
}

}  // namespace steno::app
