#include "abilities.hpp"

#include <steno/pipelines/any_session.hpp>

#include <type_traits>
#include <variant>

#include "options.hpp"

namespace steno::app {

bool has_itn(const any_model& model) { return std::holds_alternative<sense_voice_any>(model); }

std::vector<std::string> honoured_options(const any_model& model) {
  std::vector<std::string> all;
  const auto add = [&](const char* name, bool honoured) {
    if (honoured) all.emplace_back(name);
  };
  const bool whole = std::visit([]<class Model>(const Model&) { return hears_whole<Model>; }, model);
  add("--language", std::visit([](const auto& m) { return !m.languages().empty(); }, model));
  add("--itn", has_itn(model));
  add("--beam", has_beam_search(model));
  add("--hotwords", takes_hotwords(model));
  add("--hotword-score", takes_hotwords(model) && has_beam_search(model));
  add(whole ? "--longest (with --vad)" : "--longest", true);
  add(whole ? "--clips (with --vad)" : "--clips", true);
  decoding_options none;
  decoding_options::each(none, [&](const char* name, const auto&) {
    if (std::visit([&](const auto& m) { return takes(m, name); }, model)) all.push_back(option_name(name));
  });
  return all;
}

std::vector<std::string> honoured_live_options(const any_model& model) {
  std::vector<std::string> all;
  if (!any_session::takes(model)) return all;
  for (const live_option& o : live_option_table)
    if (any_session::honours(model, o.name)) all.emplace_back(o.spelling);
  return all;
}

}  // namespace steno::app
