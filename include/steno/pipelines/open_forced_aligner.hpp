// steno/pipelines/open_forced_aligner.hpp - the model behind forced_aligner.
//
// Tested in tests/pipelines/word_aligner_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/load.hpp>
#include <steno/models/qwen3_aligner.hpp>
#include <steno/pipelines/forced_aligner.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

namespace detail {
template <class Model>
struct loaded_aligner final : forced_aligner_interface {
  explicit loaded_aligner(Model m) : model(std::move(m)) {}
  std::string_view architecture() const override { return Model::architecture; }
  int sample_rate() const override { return model.sample_rate; }
  double max_seconds() const override { return Model::max_seconds; }
  double reach_seconds() const override {
    return static_cast<double>(model.text.outputs()) * model.segment_time / 1000;
  }
  std::vector<word> align(std::span<const float> pcm, std::string_view text, std::string_view language, double offset,
                          context& c) const override {
    return model.words_of(model.align(pcm, std::string(text), c, std::string(language)), offset);
  }

  Model model;
};

template <class Bodies>
std::unique_ptr<const forced_aligner_interface> open_forced_aligner(gguf_file file, const executor& run,
                                                                    std::vector<std::byte> image) {
  using model = model_for<Bodies, qwen3::qwen3_forced_aligner_any>;
  return std::make_unique<const loaded_aligner<model>>(load<model>(std::move(file), run, std::move(image)));
}
#if defined(STENO_LINK_PIPELINES)
template std::unique_ptr<const forced_aligner_interface> open_forced_aligner<bodies>(gguf_file, const executor&,
                                                                                     std::vector<std::byte>);
#endif

}  // namespace detail

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
