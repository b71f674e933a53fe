// SPDX-License-Identifier: Apache-2.0
#include "abilities.hpp"

#include <steno/streaming/session.hpp>

#include <string_view>
#include <utility>

#include "live_models.hpp"
#include "model_files.hpp"
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
      {"--target-language", support("target_language"), "this model writes no other language of your choice"},
      {"--no-punctuation", support("punctuation"), "this model writes as it does"},
      {"--itn", support("itn"), "this model writes as it does; --itn-rules writes figures with any model"},
      {"--look-ahead", support("look_ahead"), "this model was not trained with several; leave it out"},
      {"--beam", support("beam"), "this model decodes greedily; leave --beam out"},
      {"--hotwords", support("hotwords"), "this model takes none"},
      {"--hotword-score", support("hotword_score"), "this model reads hotwords by itself, and does not count"},
      {"--lm", support("language_model"), "this model's search takes no language model"},
      {"--lm-weight", support("lm_weight"), "this model's search takes no language model"},
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
    if (takes_live(model, name)) all.push_back(live_option_name(name));
  });
  return all;
}

std::set<std::string> options_left_out(const options& o) {
  std::set<std::string> out;
  const bool live = o.verb == "stream" || o.verb == "serve";
  if (!live && o.verb != "transcribe" && o.verb != "bench") return out;
  opened_checkpoint opened = open_model_file(o.model);
  if (!pipelines::transcribes(pipelines::summarise(opened.file).architecture)) return out;
  const transcriber model(std::move(opened.file));
  if (!live) {
    for (const ability& a : abilities_of(model))
      if (a.supported == ability::support::never) out.insert(a.option);
    // What goes with another one has no entry of its own.
    if (out.count("--translate") != 0) out.insert("--task");
    if (out.count("--no-speech-threshold") != 0) out.insert({"--temperature-increment-on-fallback", "--no-fallback"});
    return out;
  }
  session_options().each([&](std::string_view name, bool) {
    if (!takes_live(model, name)) out.insert(live_option_name(name));
  });
  return out;
}

}  // namespace steno::app
