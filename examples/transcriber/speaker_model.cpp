// SPDX-License-Identifier: Apache-2.0
#include "speaker_model.hpp"

#include <steno/error.hpp>

#include <type_traits>

#include "inputs.hpp"

namespace steno::app {

std::optional<nn::speaker_cache_options> asked_cache(const speaker_options& asked, const diarizer& d) {
  if (asked.memory.empty()) return std::nullopt;
  nn::speaker_cache_options cache = d.default_cache();
  nn::speaker_cache_options::each(cache, [&]<class T>(const std::string& name, T& value) {
    if constexpr (std::is_same_v<T, extent>)
      if (const auto given = asked.memory.find(name); given != asked.memory.end()) value = given->second;
  });
  return cache;
}

speaker_model open_speakers(const speaker_options& asked, int sample_rate, const executor& run,
                            const note_function& note) {
  speaker_model s{.model = load_as<diarizer>(asked.model, run, note)};
  if (sample_rate != diarizer::sample_rate)
    fail({.where = asked.model,
          .what = "sample rate of the model of speakers",
          .expected = std::to_string(sample_rate),
          .found = std::to_string(diarizer::sample_rate)});
  s.rule.names = read_speaker_names(asked.names);
  const auto most = static_cast<std::size_t>(s.model.speakers());
  if (s.rule.names.size() > most)
    fail({.where = asked.names + ", line " + std::to_string(most + 1),
          .what = "more names than speakers that the model tells apart",
          .expected = "at most " + std::to_string(most)});
  s.diarization.cache = asked_cache(asked, s.model);
  (void)diarization(s.model, s.diarization);  // bad lengths are told once, before any recording
  return s;
}

}  // namespace steno::app
