// steno/pipelines/any_vad.hpp - a voice activity detector chosen at run time: by name, or what a file holds.
//
// A new detector adds its type to `any_vad` and one overload of vad_settings::give(). Tested in
// tests/pipelines/any_vad_test.cpp.
#pragma once
#include <steno/models/energy_vad.hpp>
#include <steno/models/fsmn_vad.hpp>
#include <steno/models/load.hpp>
#include <steno/streaming/voice_activity_detector.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// Every alternative is a voice_activity_detector; use std::visit.
using any_vad = std::variant<energy_vad, fsmn_vad_any>;

/// "energy_vad" or "fsmn_vad".
inline std::string_view vad_name(const any_vad& v) {
  return std::visit([](const auto& d) { return std::remove_cvref_t<decltype(d)>::architecture; }, v);
}
inline int vad_sample_rate(const any_vad& v) {
  return std::visit([](const auto& d) { return d.sample_rate; }, v);
}

/// The detector that an open file holds. Throws steno::error. `image` owns its bytes when they are in memory.
STENO_COLD inline any_vad open_vad(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {}) {
  const std::string found = file.text("general.architecture").value_or("");
  if (found == fsmn_vad_any::architecture) return load<fsmn_vad_any>(std::move(file), run, std::move(image));
  fail({.where = file.where(),
        .what = "this is no voice activity detector: general.architecture",
        .expected = std::string(fsmn_vad_any::architecture),
        .found = steno::quoted(found),
        .hint = "\"energy\" needs no file"});
}
/// "energy", or the path of a packaged GGUF file. Throws steno::error.
STENO_COLD inline any_vad open_vad(const std::string& name, const executor& run = {}) {
  if (name == "energy") return energy_vad();
  return open_vad(gguf_file(name), run);
}

/// What all detectors can be asked for; what is not set is the detector's own default.
struct vad_settings {
  std::optional<int> min_silence = {};   ///< ms; a pause that ends a segment
  std::optional<int> max_segment = {};   ///< ms; a longer one is cut
  std::optional<double> threshold = {};  ///< energy: dB above the background; FSMN-VAD: speech_noise_thres

  energy_vad_options give(const energy_vad&) const {
    energy_vad_options o;
    o.min_silence = min_silence.value_or(o.min_silence);
    o.max_segment = max_segment.value_or(o.max_segment);
    if (threshold) {
      o.off_above *= *threshold / o.on_above;  // the two stay in proportion
      o.on_above = *threshold;
    }
    return o;
  }
  fsmn_vad_options give(const fsmn_vad_any&) const {
    fsmn_vad_options o;
    o.max_end_silence = min_silence;
    o.max_single_segment = max_segment;
    o.speech_noise_thres = threshold;
    return o;
  }
};

/// One stream of a detector, which must outlive it.
class vad_stream {
 public:
  explicit vad_stream(const any_vad& v, const vad_settings& s = {})
      : detector_(v), state_(std::visit([&](const auto& d) { return states(d.start(s.give(d))); }, v)) {}

  template <class Sink>
  void accept(std::span<const float> pcm, context& c, Sink&& sink) {
    each([&](const auto& d, auto& s) { d.accept(s, pcm, c, sink); });
  }
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    each([&](const auto& d, auto& s) { d.finish(s, c, sink); });
  }
  std::int64_t settled_ms() const {
    std::int64_t ms = 0;
    std::visit(
        [&](const auto& d) { ms = d.settled_ms(std::get<typename std::remove_cvref_t<decltype(d)>::state>(state_)); },
        detector_);
    return ms;
  }

 private:
  template <class... V>
  static std::variant<typename V::state...> states_of(const std::variant<V...>&);
  using states = decltype(states_of(std::declval<const any_vad&>()));

  template <class F>
  void each(F&& f) {
    std::visit([&](const auto& d) { f(d, std::get<typename std::remove_cvref_t<decltype(d)>::state>(state_)); },
               detector_);
  }

  const any_vad& detector_;
  states state_;
};

}  // namespace STENO_ABI
}  // namespace steno
