// SPDX-License-Identifier: Apache-2.0
#include "resampler.hpp"

#include <steno/error.hpp>

#include <soxr.h>

#include <algorithm>
#include <string>
#include <utility>

namespace steno::app {

namespace {

soxr* open_soxr(int source_rate, int rate) {
  soxr_error_t failed = nullptr;
  const soxr_io_spec_t samples = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  const soxr_runtime_spec_t threads = soxr_runtime_spec(1);
  soxr* const made = soxr_create(source_rate, rate, 1, &failed, &samples, &quality, &threads);
  if (failed != nullptr) fail({.what = std::string("cannot resample: ") + failed});
  return made;
}

}  // namespace

void resampler::release::operator()(soxr* s) const { soxr_delete(s); }

resampler::resampler(sample_function source, int source_rate, int rate) : source_(std::move(source)) {
  if (source_rate == rate) return;
  soxr_.reset(open_soxr(source_rate, rate));
  block_.resize(16384);
}

std::size_t resampler::read(std::span<float> out) {
  if (!soxr_) return source_(out);
  for (;;) {
    if (begin_ == end_ && !source_ended_) {
      begin_ = 0;
      end_ = source_(block_);
      source_ended_ = end_ == 0;
    }
    std::size_t consumed = 0, produced = 0;
    const soxr_error_t failed = soxr_process(soxr_.get(), source_ended_ ? nullptr : block_.data() + begin_,
                                             end_ - begin_, &consumed, out.data(), out.size(), &produced);
    if (failed != nullptr) fail({.what = std::string("cannot resample: ") + failed});
    begin_ += consumed;
    if (produced != 0 || source_ended_) return produced;
  }
}

void live_resampler::release::operator()(soxr* s) const { soxr_delete(s); }

live_resampler::live_resampler(int source_rate, int rate)
    : soxr_(source_rate == rate ? nullptr : open_soxr(source_rate, rate)),
      ratio_(static_cast<double>(rate) / source_rate) {}

void live_resampler::push(std::span<const float> in, std::vector<float>& out) {
  if (in.empty()) return;
  begun_ = true;
  if (soxr_)
    process(in.data(), in.size(), out);
  else
    out.insert(out.end(), in.begin(), in.end());
}

void live_resampler::finish(std::vector<float>& out) {
  if (!std::exchange(begun_, false) || !soxr_) return;
  process(nullptr, 0, out);
  if (const soxr_error_t failed = soxr_clear(soxr_.get()); failed != nullptr)
    fail({.what = std::string("cannot resample: ") + failed});
}

// Without samples: to the end of what it holds.
void live_resampler::process(const float* in, std::size_t count, std::vector<float>& out) {
  for (;;) {
    const std::size_t before = out.size(), room = static_cast<std::size_t>(static_cast<double>(count) * ratio_) + 4096;
    out.resize(before + room);
    std::size_t consumed = 0, produced = 0;
    const soxr_error_t failed = soxr_process(soxr_.get(), in, count, &consumed, out.data() + before, room, &produced);
    out.resize(before + produced);
    if (failed != nullptr) fail({.what = std::string("cannot resample: ") + failed});
    if (in != nullptr) in += consumed;
    count -= consumed;
    if (produced < room && count == 0) return;
  }
}

}  // namespace steno::app
