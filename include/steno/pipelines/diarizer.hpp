// steno/pipelines/diarizer.hpp - who speaks when in a recording of any length.
//
//   diarizer d("sortformer.gguf");  context c;
//   result r = d.diarize(pcm, {}, c);           // segments with speakers, without texts
//   diarization one(d, {});                     // a recording that comes in
//   while (...) one.push(some, c);  result r = one.finish(c);
//
// A model for streams hears in constant memory (16 bytes for each 80 ms are kept for the result); any other needs the
// whole recording, so its samples are kept. Tested in tests/pipelines/diarizer_test.cpp.
#pragma once
#include <steno/decoders/speaker_segments.hpp>
#include <steno/models/load.hpp>
#include <steno/pipelines/result.hpp>
#include <steno/streaming/sortformer_stream.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

struct diarize_options {
  speaker_segment_options segments = {};
  std::optional<speaker_cache_options> memory = {};  ///< of models for streams; nothing: the model's own
};

/// A diarization model from a file. Const after loading; may be shared by threads, each with its own context.
class diarizer {
 public:
  using model_type = sortformer_any;
  static constexpr int sample_rate = model_type::sample_rate;

  /// Loads a packaged GGUF file. `run` packs the weights in parallel. Throws steno::error.
  explicit diarizer(const std::string& path, const executor& run = {}) : diarizer(gguf_file(path), run) {}
  /// The same from an open file; `image` owns its bytes when they are in memory.
  explicit diarizer(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {})
      : model_(load<model_type>(std::move(file), run, std::move(image))) {}

  const model_type& model() const noexcept { return model_; }
  /// 16 kHz mono samples in [-1, 1]. Throws steno::error for options that make no sense.
  result diarize(std::span<const float> pcm, const diarize_options& o, context& c) const;

 private:
  model_type model_;
};

/// One recording; the diarizer must outlive it.
class diarization {
 public:
  /// Throws steno::error for options that make no sense to the model.
  diarization(const diarizer& d, const diarize_options& o) : model_(&d.model()), segments_(o.segments) {
    if (model_->streams) stream_.emplace(*model_, o.memory.value_or(model_->streaming));
    if (!model_->streams && o.memory)
      fail({.what = "this model hears whole recordings: it takes no lengths of streams (chunk_len, ...)"});
  }

  void push(std::span<const float> pcm, context& c) {
    heard_ += pcm.size();
    if (stream_)
      stream_->push(pcm, c, [this](const sortformer_event& e) { keep(e.activities); });
    else
      kept_.insert(kept_.end(), pcm.begin(), pcm.end());
  }
  /// The end. Segments in order of their starts, `speaker` "speaker_0" and so on in the order in which they are first
  /// heard; those of several speakers may overlap. Afterwards nothing more may be pushed.
  STENO_COLD result finish(context& c) {
    if (stream_) {
      stream_->finish(c, [this](const sortformer_event& e) { keep(e.activities); });
    } else {
      const extent rows = model_->frames(static_cast<extent>(kept_.size()));
      activities_.resize(static_cast<std::size_t>(rows * model_->speakers()));
      model_->diarize(kept_, make_view(activities_.data(), rows, model_->speakers()), c);
      kept_.clear();
    }
    result r;
    r.model = std::string(diarizer::model_type::architecture);
    r.duration = static_cast<double>(heard_) / diarizer::sample_rate;
    for (extent s = 0; s < model_->speakers(); ++s)
      for (const speaker_span& span :
           speaker_segments(activities(), s, model_->encoder.template get<"pre_encode">().rate, segments_)) {
        segment& one = r.segments.emplace_back();
        one.start = span.start;
        one.end = span.end;
        one.speaker = "speaker_" + std::to_string(s);
      }
    std::stable_sort(r.segments.begin(), r.segments.end(),
                     [](const segment& a, const segment& b) { return a.start < b.start; });
    return r;
  }

  /// Probabilities that each speaker speaks, [rows so far, speakers]; a row lasts model().frame_seconds().
  view<const float> activities() const noexcept {
    const extent n = model_->speakers();
    return make_view(activities_.data(), static_cast<extent>(activities_.size()) / n, n);
  }

 private:
  void keep(const view<const float>& rows) {
    activities_.insert(activities_.end(), rows.data(), rows.data() + rows.size());
  }

  const diarizer::model_type* model_;
  speaker_segment_options segments_;
  std::optional<sortformer_stream<diarizer::model_type>> stream_;
  std::vector<float> kept_, activities_;
  std::size_t heard_ = 0;
};

inline result diarizer::diarize(std::span<const float> pcm, const diarize_options& o, context& c) const {
  diarization one(*this, o);
  one.push(pcm, c);
  return one.finish(c);
}

}  // namespace STENO_ABI
}  // namespace steno
