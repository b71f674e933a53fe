// steno/pipelines/any_vad.hpp - a voice activity detector chosen at run time: by name, or what a file holds.
//
//   const any_vad vad = open_vad("energy");      // or a packaged GGUF file
//   vad_stream s(vad, {.min_silence = 500});
//   s.accept(pcm, context, [](const voice_change& v) { ... });  s.finish(context, ...);
//
// A closed class: its bodies are in open_vad.hpp, where a new detector adds itself, and compiled once with
// steno::pipelines. Tested in tests/pipelines/any_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/pipelines/closed.hpp>
#include <steno/segmentation/voice_segments.hpp>
#include <steno/weights/gguf.hpp>

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

/// What detectors can be set to; what is not set is the detector's own default. FSMN-VAD refuses the last three.
struct vad_settings {
  std::optional<int> min_silence = {};  ///< ms; a pause that ends a segment
  std::optional<int> max_segment = {};  ///< ms; a longer one is cut
  /// energy: dB above the background; FSMN-VAD: speech_noise_thres; Silero VAD: a probability
  std::optional<double> threshold = {};
  std::optional<double> neg_threshold = {};  ///< of what began: energy: dB; Silero VAD: a probability
  std::optional<int> min_speech = {};        ///< ms; what is shorter is no speech
  std::optional<int> pad = {};               ///< ms; added before and after a segment
};

namespace pipelines::detail {
struct vad_stream_interface {
  virtual ~vad_stream_interface() = default;
  virtual void accept(std::span<const float> pcm, context& c,
                      core::sink_ref<const segmentation::voice_change&> sink) = 0;
  virtual void finish(context& c, core::sink_ref<const segmentation::voice_change&> sink) = 0;
  virtual std::int64_t settled_ms() const = 0;
};
struct vad_interface {
  virtual ~vad_interface() = default;
  virtual std::string_view name() const = 0;
  virtual int sample_rate() const = 0;
  virtual std::unique_ptr<vad_stream_interface> start(const vad_settings& s) const = 0;
};
}  // namespace pipelines::detail

/// A detector. It may be moved; const and shared by threads, each with its own stream and context.
class any_vad {
 public:
  /// What open_vad() makes.
  explicit any_vad(std::unique_ptr<const pipelines::detail::vad_interface> d) : detector_(std::move(d)) {}

  std::string_view name() const { return detector_->name(); }   ///< "energy_vad", "fsmn_vad", ...
  int sample_rate() const { return detector_->sample_rate(); }  ///< Hz, of the samples that streams take

 private:
  friend class vad_stream;
  std::unique_ptr<const pipelines::detail::vad_interface> detector_;
};

/// The detector that an open file holds. `image` owns its bytes when they are in memory. Throws steno::error.
template <class Bodies = pipelines::detail::bodies>
any_vad open_vad(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {});
/// "energy", or the path of a packaged GGUF file. `sample_rate` is that of "energy", in Hz; a file has its own. Throws
/// steno::error.
template <class Bodies = pipelines::detail::bodies>
any_vad open_vad(const std::string& name, const executor& run = {}, int sample_rate = 16000);
#if defined(STENO_LINK_PIPELINES)
extern template any_vad open_vad<pipelines::detail::bodies>(gguf_file, const executor&, std::vector<std::byte>);
extern template any_vad open_vad<pipelines::detail::bodies>(const std::string&, const executor&, int);
#endif

/// One stream of a detector, which must outlive it. It may be moved; one thread at a time.
class vad_stream {
 public:
  /// The detector must outlive it.
  explicit vad_stream(const any_vad& v, const vad_settings& s = {}) : stream_(v.detector_->start(s)) {}

  /// More mono samples in [-1, 1] at the detector's rate, any number of them; sink(const voice_change&) for each
  /// beginning and end of speech, in order of time.
  void accept(std::span<const float> pcm, context& c, core::sink_ref<const segmentation::voice_change&> sink) {
    stream_->accept(pcm, c, sink);
  }
  /// No samples follow.
  void finish(context& c, core::sink_ref<const segmentation::voice_change&> sink) { stream_->finish(c, sink); }
  /// Audio before it belongs to segments that were emitted whole, or to none.
  std::int64_t settled_ms() const { return stream_->settled_ms(); }

 private:
  std::unique_ptr<pipelines::detail::vad_stream_interface> stream_;
};

}  // namespace STENO_ABI
}  // namespace steno

#if !defined(STENO_LINK_PIPELINES)
#include <steno/pipelines/open_vad.hpp>
#endif
