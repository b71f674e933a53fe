// steno/pipelines/open_diarizer.hpp - the model behind diarizer.
//
// Tested in tests/pipelines/diarizer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/models/load.hpp>
#include <steno/models/sortformer.hpp>
#include <steno/pipelines/diarizer.hpp>
#include <steno/streaming/sortformer_stream.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

namespace detail {

template <class Model>
class diarization_of final : public diarization_interface {
 public:
  diarization_of(const Model& m, const diarize_options& o) : model_(&m), segments_(o.segments) {
    if (model_->streams) stream_.emplace(*model_, o.cache.value_or(model_->streaming));
    if (!model_->streams && o.cache)
      fail({.what = "this model takes whole recordings: it has no lengths of streams (chunk_len, ...)"});
  }

  void push(std::span<const float> pcm, context& c) override {
    push(pcm, c, [this](const view<const float>& rows) { keep(rows); });
  }
  void push(std::span<const float> pcm, context& c, speaker_rows_sink rows) override {
    samples_ += pcm.size();
    if (stream_)
      stream_->push(pcm, c, [&](const nemo::sortformer_event& e) { rows(e.activities); });
    else
      kept_.insert(kept_.end(), pcm.begin(), pcm.end());
  }
  STENO_COLD void finish(context& c, speaker_rows_sink rows) override {
    if (stream_) {
      stream_->finish(c, [&](const nemo::sortformer_event& e) { rows(e.activities); });
      return;
    }
    const extent count = model_->frames(static_cast<extent>(kept_.size())), n = model_->speakers();
    std::vector<float> all(static_cast<std::size_t>(count * n));
    model_->diarize(kept_, core::make_view(all.data(), count, n), c);
    kept_ = {};
    rows(core::make_view(static_cast<const float*>(all.data()), count, n));
  }
  STENO_COLD result finish(context& c) override {
    finish(c, [this](const view<const float>& rows) { keep(rows); });
    result r;
    r.model = std::string(Model::architecture);
    r.duration = static_cast<double>(samples_) / Model::sample_rate;
    for (extent s = 0; s < model_->speakers(); ++s)
      for (const segmentation::speaker_span& span : segmentation::speaker_segments(
               activities(), s, model_->encoder.template get<"pre_encode">().rate, segments_)) {
        segment& one = r.segments.emplace_back();
        one.start = span.start;
        one.end = span.end;
        one.speaker = "speaker_" + std::to_string(s);
      }
    core::sort_stably(r.segments, [](const segment& a, const segment& b) { return a.start < b.start; });
    return r;
  }

  view<const float> activities() const override {
    const extent n = model_->speakers();
    return core::make_view(activities_.data(), static_cast<extent>(activities_.size()) / n, n);
  }

 private:
  void keep(const view<const float>& rows) {
    activities_.insert(activities_.end(), rows.data(), rows.data() + rows.size());
  }

  const Model* model_;
  segmentation::speaker_segment_options segments_;
  std::optional<nemo::sortformer_stream<Model>> stream_;
  std::vector<float> kept_, activities_;
  std::size_t samples_ = 0;
};

template <class Model>
struct loaded_diarizer final : diarizer_interface {
  explicit loaded_diarizer(Model m) : model(std::move(m)) {}
  extent speakers() const override { return model.speakers(); }
  double frame_seconds() const override { return model.frame_seconds(); }
  bool streams() const override { return model.streams; }
  nn::speaker_cache_options default_cache() const override { return model.streaming; }
  std::unique_ptr<diarization_interface> start(const diarize_options& o) const override {
    return std::make_unique<diarization_of<Model>>(model, o);
  }

  Model model;
};
template <class Bodies>
std::unique_ptr<const diarizer_interface> open_diarizer(gguf_file file, const executor& run,
                                                        std::vector<std::byte> image) {
  using model = model_for<Bodies, nemo::sortformer_any>;
  static_assert(diarizer::sample_rate == model::sample_rate);
  return std::make_unique<const loaded_diarizer<model>>(load<model>(std::move(file), run, std::move(image)));
}
#if defined(STENO_LINK_PIPELINES)
template std::unique_ptr<const diarizer_interface> open_diarizer<bodies>(gguf_file, const executor&,
                                                                         std::vector<std::byte>);
#endif

}  // namespace detail
}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
