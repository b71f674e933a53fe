// One channel from one sample rate to another, block by block, with soxr's HQ recipe.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

struct soxr;

namespace steno::app {

/// Fills the front of a span with the next samples of one channel and returns how many these are; 0 at the end.
using sample_function = std::function<std::size_t(std::span<float>)>;

/// Pulls from a source and gives samples at `rate`. Equal rates pass through with the same bits. The output does not
/// depend on the sizes of the blocks it is read in. Memory is constant.
class resampler {
 public:
  resampler(sample_function source, int source_rate, int rate);

  /// Fills the front of `out` and returns how many samples that are; 0 at the end.
  std::size_t read(std::span<float> out);

 private:
  struct release {
    void operator()(soxr* s) const;
  };
  sample_function source_;
  std::unique_ptr<soxr, release> soxr_;
  std::vector<float> block_;
  std::size_t begin_ = 0, end_ = 0;  // what is left of the block
  bool source_ended_ = false;
};

/// The same for samples that come by themselves.
class live_resampler {
 public:
  live_resampler(int source_rate, int rate);

  /// Appends what is known of the output.
  void push(std::span<const float> in, std::vector<float>& out);
  /// No samples follow: appends the rest. The next push() begins anew.
  void finish(std::vector<float>& out);

 private:
  void process(const float* in, std::size_t count, std::vector<float>& out);
  struct release {
    void operator()(soxr* s) const;
  };
  std::unique_ptr<soxr, release> soxr_;  // null: the rates are equal
  double ratio_;
  bool begun_ = false;
};

}  // namespace steno::app
