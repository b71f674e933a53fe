// steno/pipelines/clip_model.hpp - what a recording or a live session by segments needs of its model, of whatever type.
//
// So their loops (cut_recording.hpp, live_segments.hpp) are no templates: steno::pipelines compiles them once, not for
// every family. A call is one for a clip. Tested in tests/pipelines/recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/models/recogniser.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/transcribe_options.hpp>
#include <steno/search/guide.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {
namespace detail {

/// A model that must outlive it.
struct clip_model {
  const void* self;
  std::string_view architecture;
  int sample_rate;
  double min_seconds;  ///< what the end of a recording that was cut is filled up to
  std::vector<segment> (*recognise)(const void* self, std::span<const float> pcm, const transcribe_options& o,
                                    const search::guides& guides, context& c);
  /// A segment for each clip; null where they are not recognised together.
  std::vector<segment> (*recognise_together)(const void* self, std::span<const std::span<const float>> clips,
                                             const transcribe_options& o, const search::guides& guides, context& c);
};

template <recogniser Model>
std::vector<segment> recognise_one(const void* self, std::span<const float> pcm, const transcribe_options& o,
                                   const search::guides& guides, context& c) {
  return recognise_clip(*static_cast<const Model*>(self), pcm, o, guides, c);
}
template <recogniser Model>
std::vector<segment> recognise_all(const void* self, std::span<const std::span<const float>> clips,
                                   const transcribe_options& o, const search::guides& guides, context& c) {
  const Model& m = *static_cast<const Model*>(self);
  std::size_t max_count = 0;
  for (const std::span<const float> clip : clips) max_count = std::max(max_count, clip.size());
  return family<Model>::recognise_together(m, clips, family<Model>::options(m, o, guides, max_count), c);
}
template <recogniser Model>
clip_model clip_model_of(const Model& m) {
  clip_model c{&m, Model::architecture, m.sample_rate, family<Model>::clips.min_seconds, recognise_one<Model>, nullptr};
  if constexpr (recognises_together<Model>) c.recognise_together = recognise_all<Model>;
  return c;
}

}  // namespace detail
}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
