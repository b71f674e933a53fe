#include "json_result.hpp"

#include <variant>

#include "json_builder.hpp"

namespace steno::app {
namespace {

std::string_view name(timing how) {
  return how == timing::native ? "native" : how == timing::aligned ? "aligned" : "none";
}

void add_row(json_builder& j, const extra_row& row) {
  j.open('{');
  for (const auto& [name, cell] : row) {
    j.key(name);
    if (const double* const x = std::get_if<double>(&cell))
      j.number(*x);
    else
      j.text(std::get<std::string>(cell));
  }
  j.close('}');
}

void add_extras(json_builder& j, const std::vector<extra_field>& fields) {
  j.open('{');
  for (const auto& [key, value] : fields) {
    j.key(key);
    if (const auto* text = std::get_if<std::string>(&value)) {
      j.text(*text);
    } else if (const auto* x = std::get_if<double>(&value)) {
      j.number(*x);
    } else if (const auto* list = std::get_if<scored_texts>(&value)) {
      j.open('[');
      for (const auto& [entry, score] : *list)
        j.open('{').key("text").text(entry).key("score").number(score).close('}');
      j.close(']');
    } else {
      j.open('[');
      for (const extra_row& row : std::get<std::vector<extra_row>>(value)) add_row(j, row);
      j.close(']');
    }
  }
  j.close('}');
}

void add_word(json_builder& j, const word& w) {
  j.open('{').key("word").text(w.text);
  if (w.how != timing::none) j.key("start").number(w.start).key("end").number(w.end);
  j.key("confidence");
  if (w.how == timing::aligned)
    j.none();  // an aligner finds times, and no probability
  else
    j.number(static_cast<double>(w.confidence));
  j.key("timing").text(name(w.how)).close('}');
}

// All but the brackets.
void add_segment(json_builder& j, const segment& s) {
  j.key("start").number(s.start).key("end").number(s.end).key("text").text(s.text);
  j.key("token_ids").wholes(s.token_ids).key("speaker");
  if (s.speaker)
    j.text(*s.speaker);
  else
    j.none();
  j.key("words").open('[');
  for (const word& w : s.words) add_word(j, w);
  j.close(']');
  if (s.extra.empty()) return;
  j.key("extra");
  add_extras(j, s.extra);
}

}  // namespace

void json_document::add(const segment& s) {
  json_builder j;
  add_segment(j.open('{'), s);
  append_text(text_, s.text);
  if (!segments_.empty()) segments_ += ',';
  segments_ += j.str();
  if (!s.language.empty()) {
    const bool extra = !s.extra.empty();
    languages_.push_back({segments_.size() - (extra ? 1 : 0), extra, s.language});
  }
  segments_ += '}';
}

std::string json_document::end(std::string_view audio, const result& head) {
  json_builder j;
  j.open('{').key("model").text(head.model).key("audio").text(audio).key("duration").number(head.duration);
  j.key("language").text(head.language).key("text").text(text_).key("segments");
  std::string list = "[";
  std::size_t done = 0;
  for (const place& p : languages_) {
    if (p.language == head.language) continue;
    list.append(segments_, done, p.at - done);
    done = p.at;
    json_builder language;
    language.open('{').key("language").text(p.language);
    const std::string_view entry = std::string_view(language.str()).substr(1);
    list.append(p.has_extra ? "," : ",\"extra\":{").append(entry).append(p.has_extra ? "" : "}");
  }
  list.append(segments_, done).append("]");
  segments_ = {};
  j.raw(list).key("extra");
  add_extras(j, head.extra);
  return std::move(j.close('}')).str();
}

std::string json_line(std::string_view audio, std::string_view language, const segment& s) {
  json_builder j;
  j.open('{').key("audio").text(audio).key("language").text(s.language.empty() ? language : s.language);
  add_segment(j, s);
  return std::move(j.close('}')).str() + "\n";
}

}  // namespace steno::app
