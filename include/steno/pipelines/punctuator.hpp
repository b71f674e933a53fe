// steno/pipelines/punctuator.hpp - punctuation from a model file into the text of segments.
//
//   const punctuator marks("ct_punc.gguf");
//   marks.punctuate(segment, context);
//
//   punctuator::stream text(marks);      // segments that are one text, as they come
//   text.punctuate(segment, context);
//
// A closed class; its body is in open_punctuator.hpp and compiled once with steno::pipelines. Tested in
// tests/pipelines/punctuate_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/pipelines/closed.hpp>
#include <steno/weights/gguf.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace pipelines::detail {
struct punctuated_stream {
  virtual ~punctuated_stream() = default;
  virtual void punctuate(segment& s, context& c) = 0;
};
struct punctuator_interface {
  virtual ~punctuator_interface() = default;
  virtual void punctuate(segment& s, context& c) const = 0;
  virtual std::unique_ptr<punctuated_stream> start() const = 0;
};
/// Defined in open_punctuator.hpp.
template <class Bodies>
std::unique_ptr<const punctuator_interface> open_punctuator(gguf_file file, const executor& run,
                                                            std::vector<std::byte> image);
#if defined(STENO_LINK_PIPELINES)
extern template std::unique_ptr<const punctuator_interface> open_punctuator<bodies>(gguf_file, const executor&,
                                                                                    std::vector<std::byte>);
#endif
}  // namespace pipelines::detail

/// A loaded model. It may be moved; const and shared by threads, each with its own context.
class punctuator {
 public:
  /// Loads a packaged GGUF file. `run` packs the weights in parallel. Throws steno::error.
  template <class Bodies = pipelines::detail::bodies>
  explicit punctuator(const std::string& path, const executor& run = {}) : punctuator(gguf_file(path), run) {}
  /// The same from an open file; `image` owns its bytes when they are in memory.
  template <class Bodies = pipelines::detail::bodies>
  explicit punctuator(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {})
      : model_(pipelines::detail::open_punctuator<Bodies>(std::move(file), run, std::move(image))) {}

  /// Each segment by itself. Words, ids and times stay as they are.
  void punctuate(segment& s, context& c) const { model_->punctuate(s, c); }

  /// A text that comes segment by segment; what is written stays. A model of whole texts punctuates each segment by
  /// itself, a model of streams knows what came before. One thread at a time; the punctuator must outlive it.
  class stream {
   public:
    /// At the beginning of a text.
    explicit stream(const punctuator& p) : text_(p.model_->start()) {}
    /// The next segment. Words, ids and times stay as they are.
    void punctuate(segment& s, context& c) { text_->punctuate(s, c); }

   private:
    std::unique_ptr<pipelines::detail::punctuated_stream> text_;
  };

 private:
  std::unique_ptr<const pipelines::detail::punctuator_interface> model_;
};

}  // namespace STENO_ABI
}  // namespace steno

#if !defined(STENO_LINK_PIPELINES)
#include <steno/pipelines/open_punctuator.hpp>
#endif
