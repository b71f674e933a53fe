// model_config.yaml: any text is refused with steno::error, or gives settings from which tensors can be listed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "fuzz.hpp"
#include "limits.hpp"
#include "nemo/canary.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/sortformer.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const steno::checkpoint_settings y = steno::read_yaml("input", std::string(text_of(data, size)), "a NeMo config");
    if (steno::nemo_files::is_sortformer(y)) {
      const auto s = steno::nemo_files::read_sortformer_settings(y);
      require(s.layers <= steno::limits::layers && s.hidden % s.attention_heads == 0);
      return;
    }
    if (steno::nemo_files::is_canary(y)) {
      const auto s = steno::nemo_files::read_canary_settings(y);
      require(s.layers <= steno::limits::layers && s.hidden % s.attention_heads == 0 && s.beam >= 1);
      require(s.max_generation_delta >= -1 && s.length_penalty >= 0 && (!s.aggregate || !s.languages.empty()));
      return;
    }
    const auto s = steno::nemo_files::read_parakeet_settings(y);
    require(s.blocks <= steno::limits::layers && s.width % s.heads == 0);
    require(s.durations.empty() || *std::max_element(s.durations.begin(), s.durations.end()) > 0);
    require(s.contexts.size() % 2 == 0 && s.windows.left.empty() == s.windows.chunk.empty());
    require(s.prompts.languages.names.size() == s.prompts.languages.numbers.size());
    for (const int number : s.prompts.languages.numbers) require(number < static_cast<int>(s.prompts.count));
  });
  return 0;
}
