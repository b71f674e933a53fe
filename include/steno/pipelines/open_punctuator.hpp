// steno/pipelines/open_punctuator.hpp - the model behind punctuator.
//
// Tested in tests/pipelines/punctuate_test.cpp.
#pragma once
#include <steno/models/ct_punc.hpp>
#include <steno/models/load.hpp>
#include <steno/pipelines/punctuate.hpp>
#include <steno/pipelines/punctuator.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

namespace detail {
template <class Model>
struct loaded_punctuation final : punctuator_interface {
  explicit loaded_punctuation(Model m) : model(std::move(m)) {}
  void punctuate(segment& s, context& c) const override { steno::punctuate(s, model, c); }

  Model model;
};

template <class Bodies>
std::unique_ptr<const punctuator_interface> open_punctuator(gguf_file file, const executor& run,
                                                            std::vector<std::byte> image) {
  using model = model_for<Bodies, funasr::ct_punc_any>;
  return std::make_unique<const loaded_punctuation<model>>(load<model>(std::move(file), run, std::move(image)));
}
#if defined(STENO_LINK_PIPELINES)
template std::unique_ptr<const punctuator_interface> open_punctuator<bodies>(gguf_file, const executor&,
                                                                             std::vector<std::byte>);
#endif

}  // namespace detail

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
