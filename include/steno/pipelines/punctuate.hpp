// steno/pipelines/punctuate.hpp - punctuation into the text of a segment, whichever model made it.
//
// Each segment is punctuated by itself, as it comes: recordings have any length, and what is written stays. Words, ids
// and times stay as they are. Tested in tests/pipelines/punctuate_test.cpp.
#pragma once
#include <steno/core/result.hpp>
#include <steno/models/ct_punc.hpp>

#include <utility>

namespace steno {
inline namespace STENO_ABI {

/// `Model`: a ct_punc. Without the space that the model puts before a Latin word at the beginning.
template <class Model>
STENO_COLD void punctuate(segment& s, const Model& model, context& c) {
  std::string text = model.punctuate(s.text, c).text;
  if (text.starts_with(' ')) text.erase(0, 1);
  s.text = std::move(text);
}

}  // namespace STENO_ABI
}  // namespace steno
