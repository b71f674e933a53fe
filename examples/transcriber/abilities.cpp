#include "abilities.hpp"

#include <steno/pipelines/any_session.hpp>

#include <type_traits>
#include <variant>

#include "options.hpp"

namespace steno::app {

std::vector<ability> abilities_of(const any_model& model) {
  using enum ability::honour;
  const auto when = [](bool honoured) { return honoured ? always : never; };
  const bool languages = std::visit([](const auto& m) { return !m.languages().empty(); }, model);
  const bool search = has_beam_search(model), hotwords = takes_hotwords(model);
  const bool whole = std::visit([]<class Model>(const Model&) { return hears_whole<Model>; }, model);
  const char* const clips = "this model hears recordings as a whole; with --vad it hears clips";
  std::vector<ability> all = {
      {"--language", when(languages), "this model hears the languages it was trained for; leave it out"},
      {"--itn", when(std::holds_alternative<sense_voice_any>(model)), "this model writes as it does"},
      {"--beam", when(search), "this model decodes greedily; leave --beam out"},
      {"--hotwords", when(hotwords), "this model takes none"},
      {"--hotword-score", when(hotwords && search), "this model reads hotwords in its prompt, and does not count"},
      {"--longest", whole ? with_vad : always, clips},
      {"--clips", whole ? with_vad : always, clips}};
  decoding_options none;
  decoding_options::each(none, [&](const char* name, const auto&) {
    const bool taken = std::visit([&](const auto& m) { return takes(m, name); }, model);
    all.push_back({option_name(name), when(taken)});
  });
  return all;
}

std::vector<std::string> honoured_options(const any_model& model) {
  std::vector<std::string> all;
  for (const ability& a : abilities_of(model))
    if (a.honoured != ability::honour::never)
      all.push_back(a.option + (a.honoured == ability::honour::with_vad ? " (with --vad)" : ""));
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
