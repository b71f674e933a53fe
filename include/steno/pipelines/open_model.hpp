// steno/pipelines/open_model.hpp - the families that a file may be of.
//
// A new family adds its header and its place in all_families. Tested in tests/pipelines/recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/stop_token.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/canary.hpp>
#include <steno/pipelines/fun_asr_nano.hpp>
#include <steno/pipelines/loaded_model.hpp>
#include <steno/pipelines/paraformer.hpp>
#include <steno/pipelines/parakeet.hpp>
#include <steno/pipelines/qwen3_asr.hpp>
#include <steno/pipelines/seaco_paraformer.hpp>
#include <steno/pipelines/sense_voice.hpp>
#include <steno/pipelines/transcriber.hpp>
#include <steno/pipelines/u2.hpp>
#include <steno/pipelines/whisper.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {
namespace detail {

template <class... Families>
struct family_list {
  static bool opens(std::string_view architecture) {
    const auto among = [&](const auto& names) {
      return std::find(std::begin(names), std::end(names), architecture) != std::end(names);
    };
    return (among(Families::architectures) || ...);
  }
  static std::string architectures() {
    std::string all;
    const auto add = [&](const auto& of_family) {
      for (const std::string_view one : of_family) all.append(all.empty() ? "" : ", ").append(one);
    };
    (add(Families::architectures), ...);
    return all;
  }
  static opened_model open(model_file& f) {
    opened_model m;
    (void)((m = Families::open(f)) || ...);
    return m;
  }
};
using all_families = family_list<sense_voice_family, paraformer_family, seaco_paraformer_family, u2_family,
                                 parakeet_family, canary_family, whisper_family, qwen3_asr_family, fun_asr_nano_family>;

template <class Bodies>
bool opens(std::string_view architecture) {
  return model_for<Bodies, all_families>::opens(architecture);
}
template <class Bodies>
opened_model open_model(gguf_file file, const executor& run, std::vector<std::byte> image,
                        const core::stop_token& stop) {
  const std::string found = file.text("general.architecture").value_or("");
  if (!opens<Bodies>(found))
    fail({.where = file.where(),
          .what = "general.architecture",
          .expected = model_for<Bodies, all_families>::architectures(),
          .found = "\"" + found + "\"",
          .hint = file.has("steno.version") ? "this model transcribes nothing by itself"
                                            : "steno-convert makes a packaged file from a checkpoint"});
  model_file f{.file = std::move(file), .run = run, .image = std::move(image), .stop = stop};
  return model_for<Bodies, all_families>::open(f);
}
#if defined(STENO_LINK_PIPELINES)
template opened_model open_model<bodies>(gguf_file, const executor&, std::vector<std::byte>, const core::stop_token&);
template bool opens<bodies>(std::string_view);
#endif

}  // namespace detail
}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
