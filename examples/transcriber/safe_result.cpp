#include "safe_result.hpp"

#include "text_width.hpp"

namespace steno::app {
namespace {

void clean(std::string& text) { text = result_text(text); }

void clean(std::vector<extra_field>& fields) {
  for (auto& [name, value] : fields) {
    clean(name);
    if (auto* text = std::get_if<std::string>(&value)) clean(*text);
    if (auto* list = std::get_if<scored_texts>(&value))
      for (auto& entry : *list) clean(entry.first);
    if (auto* rows = std::get_if<std::vector<extra_row>>(&value))
      for (extra_row& row : *rows)
        for (auto& [key, cell] : row) {
          clean(key);
          if (auto* text = std::get_if<std::string>(&cell)) clean(*text);
        }
  }
}

}  // namespace

segment safe(segment s) {
  clean(s.text);
  if (s.speaker) clean(*s.speaker);
  for (word& w : s.words) {
    clean(w.text);
    clean(w.space);
  }
  clean(s.language);
  clean(s.extra);
  return s;
}

result safe(result r) {
  clean(r.model);
  clean(r.language);
  clean(r.text);
  for (segment& s : r.segments) s = safe(std::move(s));
  clean(r.extra);
  return r;
}

}  // namespace steno::app
