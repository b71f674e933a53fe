// SPDX-License-Identifier: Apache-2.0
#include "whole_turn.hpp"

#include <memory>

namespace steno::app {
namespace {

class whole_turn_stream final : public pipelines::detail::vad_stream_interface {
 public:
  explicit whole_turn_stream(int rate) : rate_(rate) {}
  void accept(std::span<const float> pcm, context&, core::sink_ref<const segmentation::voice_change&> sink) override {
    if (samples_ == 0 && !pcm.empty()) sink({.start_ms = 0});
    samples_ += static_cast<std::int64_t>(pcm.size());
  }
  void finish(context&, core::sink_ref<const segmentation::voice_change&> sink) override {
    if (samples_ > 0) sink({.end_ms = (samples_ * 1000 + rate_ - 1) / rate_});
  }
  std::int64_t settled_ms() const override { return 0; }

 private:
  const std::int64_t rate_;
  std::int64_t samples_ = 0;
};

class whole_turn final : public pipelines::detail::vad_interface {
 public:
  explicit whole_turn(int rate) : rate_(rate) {}
  std::string_view name() const override { return "whole_turn"; }
  int sample_rate() const override { return rate_; }
  std::unique_ptr<pipelines::detail::vad_stream_interface> start(const vad_settings&) const override {
    return std::make_unique<whole_turn_stream>(rate_);
  }

 private:
  const int rate_;
};

}  // namespace

any_vad whole_turn_detector(int rate) { return any_vad(std::make_unique<const whole_turn>(rate)); }

}  // namespace steno::app
