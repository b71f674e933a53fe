// steno/pipelines/diarizer.hpp - who speaks when in a recording of any length.
//
//   diarizer d("sortformer.gguf");  context c;
//   result r = d.diarize(pcm, {}, c);           // segments with speakers, without texts
//   diarization one(d, {});                     // a recording that comes in
//   while (...) one.push(samples, c);  result r = one.finish(c);
//   while (...) one.push(samples, c, rows);   one.finish(c, rows);      // rows(probabilities) as they settle
//
// A model for streams works in constant memory (16 bytes for each 80 ms are kept for the result, and nothing where rows
// are handed over); any other needs the whole recording, so its samples are kept. Closed classes; the bodies are in
// open_diarizer.hpp and compiled once with steno::pipelines. Tested in tests/pipelines/diarizer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/core/view.hpp>
#include <steno/networks/speaker_cache.hpp>
#include <steno/pipelines/closed.hpp>
#include <steno/segmentation/speaker_segments.hpp>
#include <steno/weights/gguf.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// How a recording is diarized.
struct diarize_options {
  segmentation::speaker_segment_options segments = {};  ///< what makes segments of probabilities
  std::optional<nn::speaker_cache_options> cache = {};  ///< of models for streams; nothing: the model's own
};

namespace pipelines {
/// Takes rows of probabilities, [rows, speakers], that will not change any more; valid during the call.
using speaker_rows_sink = core::sink_ref<const view<const float>&>;
}  // namespace pipelines

namespace pipelines::detail {
struct diarization_interface {
  virtual ~diarization_interface() = default;
  virtual void push(std::span<const float> pcm, context& c) = 0;
  virtual result finish(context& c) = 0;
  virtual void push(std::span<const float> pcm, context& c, speaker_rows_sink rows) = 0;
  virtual void finish(context& c, speaker_rows_sink rows) = 0;
  virtual view<const float> activities() const = 0;
};
struct diarizer_interface {
  virtual ~diarizer_interface() = default;
  virtual extent speakers() const = 0;
  virtual double frame_seconds() const = 0;
  virtual bool streams() const = 0;
  virtual nn::speaker_cache_options default_cache() const = 0;
  virtual std::unique_ptr<diarization_interface> start(const diarize_options& o) const = 0;
};
/// Defined in open_diarizer.hpp.
template <class Bodies>
std::unique_ptr<const diarizer_interface> open_diarizer(gguf_file file, const executor& run,
                                                        std::vector<std::byte> image);
#if defined(STENO_LINK_PIPELINES)
extern template std::unique_ptr<const diarizer_interface> open_diarizer<bodies>(gguf_file, const executor&,
                                                                                std::vector<std::byte>);
#endif
}  // namespace pipelines::detail

/// A diarization model from a file. It may be moved; const and shared by threads, each with its own context.
class diarizer {
 public:
  static constexpr int sample_rate = 16000;  ///< Hz, of the samples it takes

  /// Loads a packaged GGUF file. `run` packs the weights in parallel. Throws steno::error.
  template <class Bodies = pipelines::detail::bodies>
  explicit diarizer(const std::string& path, const executor& run = {}) : diarizer(gguf_file(path), run) {}
  /// The same from an open file; `image` owns its bytes when they are in memory.
  template <class Bodies = pipelines::detail::bodies>
  explicit diarizer(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {})
      : model_(pipelines::detail::open_diarizer<Bodies>(std::move(file), run, std::move(image))) {}

  extent speakers() const { return model_->speakers(); }            ///< that it can distinguish
  double frame_seconds() const { return model_->frame_seconds(); }  ///< from one row of activities() to the next
  /// Whether recordings are diarized as they come, in constant memory.
  bool streams() const { return model_->streams(); }
  nn::speaker_cache_options default_cache() const { return model_->default_cache(); }  ///< the model's own

  /// 16 kHz mono samples in [-1, 1]. Throws steno::error for options that make no sense.
  result diarize(std::span<const float> pcm, const diarize_options& o, context& c) const {
    const auto one = model_->start(o);
    one->push(pcm, c);
    return one->finish(c);
  }

 private:
  friend class diarization;
  std::unique_ptr<const pipelines::detail::diarizer_interface> model_;
};

/// One recording; the diarizer must outlive it. It may be moved; one thread at a time.
class diarization {
 public:
  /// Throws steno::error for options that make no sense to the model.
  diarization(const diarizer& d, const diarize_options& o) : body_(d.model_->start(o)) {}

  /// More 16 kHz mono samples in [-1, 1], any number of them.
  void push(std::span<const float> pcm, context& c) { body_->push(pcm, c); }
  /// The end. Segments in order of their starts, `speaker` "speaker_0" and so on in the order in which they first
  /// speak; those of several speakers may overlap. Afterwards nothing more may be pushed.
  result finish(context& c) { return body_->finish(c); }
  /// The same with rows handed over, and not kept, as soon as they are known. The portions make no difference to them.
  void push(std::span<const float> pcm, context& c, pipelines::speaker_rows_sink rows) { body_->push(pcm, c, rows); }
  /// The end of what was pushed so: the rows that are left.
  void finish(context& c, pipelines::speaker_rows_sink rows) { body_->finish(c, rows); }
  /// Probabilities that each speaker speaks, [rows so far, speakers]; a row lasts frame_seconds().
  view<const float> activities() const { return body_->activities(); }

 private:
  std::unique_ptr<pipelines::detail::diarization_interface> body_;
};

}  // namespace STENO_ABI
}  // namespace steno

#if !defined(STENO_LINK_PIPELINES)
#include <steno/pipelines/open_diarizer.hpp>
#endif
