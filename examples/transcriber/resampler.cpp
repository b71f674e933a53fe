#include "resampler.hpp"

#include <steno/error.hpp>

#include <soxr.h>

#include <string>
#include <utility>

namespace steno::app {

void resampler::release::operator()(soxr* s) const { soxr_delete(s); }

resampler::resampler(sample_function source, int source_rate, int rate) : source_(std::move(source)) {
  if (source_rate == rate) return;
  soxr_error_t failed = nullptr;
  const soxr_io_spec_t samples = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  const soxr_runtime_spec_t threads = soxr_runtime_spec(1);
  soxr_.reset(soxr_create(source_rate, rate, 1, &failed, &samples, &quality, &threads));
  if (failed != nullptr) fail({.what = std::string("cannot resample: ") + failed});
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

}  // namespace steno::app
