// steno/pipelines/punctuate.hpp - punctuation into the text of a segment, whichever model made it.
//
// Words, ids and times stay as they are. A model of whole texts (ct_punc) punctuates each segment by itself, as it
// comes: recordings have any length, and what is written stays. A model of streams (ct_punc_realtime) takes segments
// for pieces of one text: the mark behind the last word of a segment stands at the beginning of the next one. Tested in
// tests/pipelines/punctuate_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/models/ct_punc.hpp>
#include <steno/models/ct_punc_realtime.hpp>

#include <string>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// What a model keeps between the segments of one text.
template <class Model>
struct punctuation_cache {};
/// Words of the sentence that has not ended.
template <funasr::ct_punc_sizes S>
struct punctuation_cache<funasr::ct_punc_realtime<S>> {
  typename funasr::ct_punc_realtime<S>::cache words = {};  ///< since the last sentence's end
};

}  // namespace pipelines

/// The next segment of a text, of which `cache` keeps what the model needs. `Model`: a ct_punc or a ct_punc_realtime.
/// Without the space that the model puts before a Latin word at the beginning.
template <class Model>
STENO_COLD void punctuate(segment& s, const Model& model, pipelines::punctuation_cache<Model>& cache, context& c) {
  std::string text;
  if constexpr (requires { cache.words; })
    text = model.punctuate(s.text, cache.words, c).text;
  else
    text = model.punctuate(s.text, c).text;
  if (text.starts_with(' ')) text.erase(0, 1);
  s.text = std::move(text);
}
/// The same of a segment by itself.
template <class Model>
STENO_COLD void punctuate(segment& s, const Model& model, context& c) {
  pipelines::punctuation_cache<Model> none;
  punctuate(s, model, none, c);
}

}  // namespace STENO_ABI
}  // namespace steno
