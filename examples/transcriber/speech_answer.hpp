// What was recognised, as the answer to a form: text and subtitles as the program writes them, JSON as OpenAI's API has
// it.
//
// Tested in tests/programs/steno_service_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openai_writer.hpp"
#include "speech_form.hpp"
#include "writers.hpp"

namespace steno::app {

class speech_answer {
 public:
  /// `usual`: how results of the model are written.
  speech_answer(const speech_request& asked, style usual);

  /// The next segment. Returns the events that tell of it, where these were asked for: objects of JSON. Throws
  /// api_error for words without times that were asked for.
  std::vector<std::string> add(const segment& heard);
  /// The body; `head` is the result without text and segments.
  std::string end(const result& head);
  /// The whole text, so far.
  std::string text() const;

 private:
  void add_words(const segment& s);
  std::string add_speaker(const segment& s);

  const answer_format format_;
  const bool segments_, words_, translated_, openai_, stream_;
  std::optional<writer> written_;  // of text and subtitles
  std::string body_, text_, word_list_, turn_list_, language_;
  std::size_t told_ = 0;  // bytes of the text that add() has returned
  int cue_ = 1, turns_ = 0;
  openai_writer original_;
};

/// The Content-Type of the answer.
std::string_view content_type(answer_format f);

}  // namespace steno::app
