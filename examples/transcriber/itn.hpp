// Inverse text normalisation by rules: numbers, dates, amounts and the like as people write them, for models that write
// words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/streaming/session.hpp>

#include <memory>
#include <string>

#include "fst_rules.hpp"

namespace steno::app {

/// A tagger and a verbalizer, as WeTextProcessing publishes them (`zh_itn_tagger.fst`, `zh_itn_verbalizer.fst`) or as
/// NeMo's text processing exports them (`classify/tokenize_and_classify.far`, `verbalize/verbalize.far`). May be used
/// by several threads.
class inverse_text_normaliser {
 public:
  /// `path`: the folder they are in, or the tagger's file. Throws steno::error.
  explicit inverse_text_normaliser(const std::string& path);
  /// `text` as it is written; as it is where the rules have no reading of it.
  std::string written(const std::string& text) const;
  /// The text of a segment, its words and its other readings. What is no longer there is not lost: times stay.
  void rewrite(segment& s) const;
  /// A final result of a stream: its utterance, and its other readings; partial ones stay.
  void rewrite(session_event& e) const;

 private:
  std::unique_ptr<fst_rules> tagger_, verbalizer_, last_;
  bool nemo_ = false;
};

}  // namespace steno::app
