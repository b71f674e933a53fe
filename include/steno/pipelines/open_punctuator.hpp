// steno/pipelines/open_punctuator.hpp - the models behind punctuator.
//
// Tested in tests/pipelines/punctuate_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/ct_punc.hpp>
#include <steno/models/ct_punc_realtime.hpp>
#include <steno/models/load.hpp>
#include <steno/pipelines/punctuate.hpp>
#include <steno/pipelines/punctuator.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

namespace detail {
template <class Model>
struct loaded_punctuation final : punctuator_interface {
  struct text final : punctuated_stream {
    explicit text(const Model& m) : model(&m) {}
    void punctuate(segment& s, context& c) override { steno::punctuate(s, *model, cache, c); }

    const Model* model;
    punctuation_cache<Model> cache = {};
  };

  explicit loaded_punctuation(Model m) : model(std::move(m)) {}
  void punctuate(segment& s, context& c) const override { steno::punctuate(s, model, c); }
  std::unique_ptr<punctuated_stream> start() const override { return std::make_unique<text>(model); }

  Model model;
};

template <class Bodies>
std::unique_ptr<const punctuator_interface> open_punctuator(gguf_file file, const executor& run,
                                                            std::vector<std::byte> image) {
  using of_texts = model_for<Bodies, funasr::ct_punc_any>;
  using of_streams = model_for<Bodies, funasr::ct_punc_realtime_any>;
  const std::string found = file.text("general.architecture").value_or("");
  if (found == of_streams::architecture)
    return std::make_unique<const loaded_punctuation<of_streams>>(
        load<of_streams>(std::move(file), run, std::move(image)));
  if (found != of_texts::architecture)
    fail({.where = file.where(),
          .what = "general.architecture",
          .expected = std::string(of_texts::architecture).append(" or ").append(of_streams::architecture),
          .found = steno::weights::quoted(found)});
  return std::make_unique<const loaded_punctuation<of_texts>>(load<of_texts>(std::move(file), run, std::move(image)));
}
#if defined(STENO_LINK_PIPELINES)
template std::unique_ptr<const punctuator_interface> open_punctuator<bodies>(gguf_file, const executor&,
                                                                             std::vector<std::byte>);
#endif

}  // namespace detail

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
