// SPDX-License-Identifier: Apache-2.0
#include "safe_result.hpp"

#include "text_width.hpp"

namespace steno::app {
namespace {

void clean(std::string& text) { text = result_text(text); }

void clean(std::vector<core::extra_field>& fields) {
  for (auto& [name, value] : fields) {
    clean(name);
    if (auto* text = std::get_if<std::string>(&value)) clean(*text);
  }
}
void clean(std::vector<alternative>& all) {
  for (alternative& a : all) clean(a.text);
}

}  // namespace

segment safe(segment s) {
  clean(s.text);
  if (s.speaker) clean(*s.speaker);
  for (word& w : s.words) {
    clean(w.text);
    clean(w.space);
    if (w.speaker) clean(*w.speaker);
  }
  clean(s.language);
  clean(s.alternatives);
  clean(s.stop_reason);
  clean(s.extra);
  return s;
}

result safe(result r) {
  clean(r.model);
  clean(r.language);
  clean(r.text);
  for (segment& s : r.segments) s = safe(std::move(s));
  clean(r.alternatives);
  clean(r.stop_reason);
  if (r.windows)
    for (core::window_report& w : *r.windows) {
      clean(w.outcome);
      clean(w.stop_reason);
    }
  clean(r.extra);
  return r;
}

}  // namespace steno::app
