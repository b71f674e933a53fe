#include "abilities.hpp"

#include <string_view>

#include "options.hpp"

namespace steno::app {

std::vector<ability> abilities_of(const transcriber& model) {
  using enum ability::support;
  const auto support = [&](std::string_view option) {
    return model.supports(option) ? always : model.supports(option, true) ? with_vad : never;
  };
  const char* const clips = "this model hears recordings as a whole; with --vad it hears clips";
  std::vector<ability> all = {
      {"--language", support("language"), "this model hears the languages it was trained for; leave it out"},
      {"--itn", support("itn"), "this model writes as it does"},
      {"--look-ahead", support("look_ahead"), "this model was not trained with several; leave it out"},
      {"--beam", support("beam"), "this model decodes greedily; leave --beam out"},
      {"--hotwords", support("hotwords"), "this model takes none"},
      {"--hotword-score", support("hotword_score"), "this model reads hotwords by itself, and does not count"},
      {"--max-clip-seconds", support("max_clip_seconds"), clips},
      {"--parallel-clips", support("parallel_clips"), clips}};
  const decoding_options none;
  decoding_options::each(none, [&](const char* name, const auto&) {
    all.push_back({option_name(name), support(name)});
  });
  return all;
}

std::vector<std::string> supported_options(const transcriber& model) {
  std::vector<std::string> all;
  for (const ability& a : abilities_of(model))
    if (a.supported != ability::support::never)
      all.push_back(a.option + (a.supported == ability::support::with_vad ? " (with --vad)" : ""));
  return all;
}

std::vector<std::string> supported_live_options(const transcriber& model) {
  std::vector<std::string> all;
  session_options().each([&](std::string_view name, bool) {
    if (model.supports_live(name)) all.push_back(live_option_name(name));
  });
  return all;
}

}  // namespace steno::app
