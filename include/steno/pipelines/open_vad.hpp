// steno/pipelines/open_vad.hpp - the detectors behind any_vad.
//
// A new detector adds a row to open_vad() and an overload of vad_options(). Tested in
// tests/pipelines/any_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/energy_vad.hpp>
#include <steno/models/fsmn_vad.hpp>
#include <steno/models/load.hpp>
#include <steno/models/silero_vad.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/streaming/voice_activity_detector.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace pipelines {
/// A detector's own options from what all can be set to.
STENO_ON_CALL inline models::energy_vad_options vad_options(const models::energy_vad&, const vad_settings& s) {
  models::energy_vad_options o;
  o.min_speech = s.min_speech.value_or(o.min_speech);
  o.pad = s.pad.value_or(o.pad);
  o.min_silence = s.min_silence.value_or(o.min_silence);
  o.max_segment = s.max_segment.value_or(o.max_segment);
  if (s.threshold) {
    o.off_above *= *s.threshold / o.on_above;  // the two stay in proportion
    o.on_above = *s.threshold;
  }
  o.off_above = s.neg_threshold.value_or(o.off_above);
  return o;
}
/// Throws steno::error for settings that FSMN-VAD has not.
STENO_ON_CALL inline funasr::fsmn_vad_options vad_options(const funasr::fsmn_vad_any&, const vad_settings& s) {
  for (const auto& [given, name] :
       {std::pair{s.neg_threshold.has_value(), "neg_threshold"}, std::pair{s.min_speech.has_value(), "min_speech"},
        std::pair{s.pad.has_value(), "pad"}})
    if (given)
      fail({.what = std::string("setting ") + name + " of a voice activity detector",
            .expected = "none for FSMN-VAD, which has no such setting"});
  funasr::fsmn_vad_options o;
  o.max_end_silence = s.min_silence;
  o.max_single_segment = s.max_segment;
  o.speech_noise_thres = s.threshold;
  return o;
}
/// The original cuts no segment, however long. Pipelines keep the samples of an open one, so here an hour is the end.
inline models::silero_vad_options vad_options(const models::silero_vad_any& v, const vad_settings& s) {
  constexpr int hour = 3600 * 1000;
  return {.threshold = s.threshold,
          .neg_threshold = s.neg_threshold,
          .min_speech = s.min_speech,
          .min_silence = s.min_silence,
          .pad = s.pad,
          .max_segment = s.max_segment               ? s.max_segment
                         : v.segmentation.max_speech ? std::nullopt
                                                     : std::optional(hour)};
}

namespace detail {
template <streaming::voice_activity_detector V>
struct stream_of_vad final : vad_stream_interface {
  stream_of_vad(const V& v, const vad_settings& s) : detector(v), state(v.start(vad_options(v, s))) {}
  void accept(std::span<const float> pcm, context& c, core::sink_ref<const segmentation::voice_change&> sink) override {
    detector.accept(state, pcm, c, sink);
  }
  void finish(context& c, core::sink_ref<const segmentation::voice_change&> sink) override {
    detector.finish(state, c, sink);
  }
  std::int64_t settled_ms() const override { return detector.settled_ms(state); }

  const V& detector;
  typename V::state state;
};
template <streaming::voice_activity_detector V>
struct loaded_vad final : vad_interface {
  explicit loaded_vad(V v) : detector(std::move(v)) {}
  std::string_view name() const override { return V::architecture; }
  int sample_rate() const override { return detector.sample_rate; }
  std::unique_ptr<vad_stream_interface> start(const vad_settings& s) const override {
    return std::make_unique<stream_of_vad<V>>(detector, s);
  }

  V detector;
};
}  // namespace detail
}  // namespace pipelines

template <class Bodies>
any_vad open_vad(gguf_file file, const executor& run, std::vector<std::byte> image) {
  const std::string found = file.text("general.architecture").value_or("");
  std::string known;
  std::optional<any_vad> opened;
  const auto try_as = [&]<class Detector>(const Detector*) {
    using model = pipelines::detail::model_for<Bodies, Detector>;
    known.append(known.empty() ? "" : " or ").append(model::architecture);
    if (opened || found != model::architecture) return;
    opened.emplace(std::make_unique<const pipelines::detail::loaded_vad<model>>(
        load<model>(std::move(file), run, std::move(image))));
  };
  try_as(static_cast<const funasr::fsmn_vad_any*>(nullptr));
  try_as(static_cast<const models::silero_vad_any*>(nullptr));
  if (opened) return std::move(*opened);
  fail({.where = file.where(),
        .what = "this is no voice activity detector: general.architecture",
        .expected = known,
        .found = steno::weights::quoted(found),
        .hint = "\"energy\" needs no file"});
}
template <class Bodies>
any_vad open_vad(const std::string& name, const executor& run, int sample_rate) {
  if (name == "energy")
    return any_vad(
        std::make_unique<const pipelines::detail::loaded_vad<pipelines::detail::model_for<Bodies, models::energy_vad>>>(
            models::energy_vad(sample_rate)));
  return open_vad<Bodies>(gguf_file(name), run, {});
}
#if defined(STENO_LINK_PIPELINES)
template any_vad open_vad<pipelines::detail::bodies>(gguf_file, const executor&, std::vector<std::byte>);
template any_vad open_vad<pipelines::detail::bodies>(const std::string&, const executor&, int);
#endif

}  // namespace STENO_ABI
}  // namespace steno
