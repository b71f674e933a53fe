// steno/pipelines/language_model_options.hpp - what all recognisers that are language models are set to alike.
//
// Tested in tests/pipelines/transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/pipelines/decoding_options.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

namespace detail {
/// What both language models take in the same way. Throws steno::error for several temperatures.
template <class Options>
STENO_COLD void set_language_model_options(const decoding_options& o, Options& own) {
  if (o.temperature && o.temperature->size() != 1)
    fail({.what = "temperatures", .expected = "one", .hint = "the model has no windows that fail"});
  if (o.temperature) own.sampling.temperature = o.temperature->front();
  own.sampling.seed = o.seed.value_or(0);
  own.sampling.top_k = o.top_k.value_or(0);
  own.sampling.top_p = o.top_p.value_or(1);
  if (o.max_new_tokens) own.max_new_tokens = *o.max_new_tokens;
  if (o.max_repeats) own.max_repeats = *o.max_repeats;
  own.cache = o.kv_cache;
}
}  // namespace detail

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
