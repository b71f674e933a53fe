// steno/pipelines/forced_aligner.hpp - when each word of a known text is spoken, by a model from a file.
//
// A closed class; its body is in open_forced_aligner.hpp and compiled once with steno::pipelines. Beside a recording:
// word_aligner.hpp. Tested in tests/pipelines/word_aligner_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/pipelines/closed.hpp>
#include <steno/weights/gguf.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace pipelines::detail {
struct forced_aligner_interface {
  virtual ~forced_aligner_interface() = default;
  virtual std::string_view architecture() const = 0;
  virtual int sample_rate() const = 0;
  virtual double max_seconds() const = 0;
  virtual double reach_seconds() const = 0;
  virtual std::vector<word> align(std::span<const float> pcm, std::string_view text, std::string_view language,
                                  double offset, context& c) const = 0;
};
/// Defined in open_forced_aligner.hpp.
template <class Bodies>
std::unique_ptr<const forced_aligner_interface> open_forced_aligner(gguf_file file, const executor& run,
                                                                    std::vector<std::byte> image);
#if defined(STENO_LINK_PIPELINES)
extern template std::unique_ptr<const forced_aligner_interface> open_forced_aligner<bodies>(gguf_file, const executor&,
                                                                                            std::vector<std::byte>);
#endif
}  // namespace pipelines::detail

/// A loaded model. It may be moved; const and shared by threads, each with its own context.
class forced_aligner {
 public:
  /// Loads a packaged GGUF file. `run` packs the weights in parallel. Throws steno::error.
  template <class Bodies = pipelines::detail::bodies>
  explicit forced_aligner(const std::string& path, const executor& run = {}) : forced_aligner(gguf_file(path), run) {}
  /// The same from an open file; `image` owns its bytes when they are in memory.
  template <class Bodies = pipelines::detail::bodies>
  explicit forced_aligner(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {})
      : model_(pipelines::detail::open_forced_aligner<Bodies>(std::move(file), run, std::move(image))) {}

  std::string_view model_name() const { return model_->architecture(); }  ///< its architecture
  int sample_rate() const { return model_->sample_rate(); }               ///< Hz, of the samples that align() takes
  double max_seconds() const { return model_->max_seconds(); }            ///< of a clip, for which the model was made
  double reach_seconds() const { return model_->reach_seconds(); }        ///< the last time that it can write

  /// Words of `text` with times, `offset` seconds added to each. `pcm`: mono samples in [-1, 1] at sample_rate().
  std::vector<word> align(std::span<const float> pcm, std::string_view text, std::string_view language, double offset,
                          context& c) const {
    return model_->align(pcm, text, language, offset, c);
  }

 private:
  std::unique_ptr<const pipelines::detail::forced_aligner_interface> model_;
};

}  // namespace STENO_ABI
}  // namespace steno

#if !defined(STENO_LINK_PIPELINES)
#include <steno/pipelines/open_forced_aligner.hpp>
#endif
