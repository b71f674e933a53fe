// Command lines of other programs: their names for what steno has under its own.
//
// A line that was written for whisper.cpp, openai-whisper, whisper-ctranslate2 or FunASR works as it is, or an error
// says what to write instead. `steno help peers` prints the table. Where a name is steno's, too, it means what it means
// here. Tested in tests/programs/steno_peers_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno::app {

struct peer_option {
  enum class value { none, text, truth };  // truth: True or False, which is then as if it was not given
  enum class meaning {
    same,       // `here` is what to write; {} is the value, {s} its milliseconds in seconds
    no_effect,  // noted; `here` says why
    refused,    // `here` says what to write instead
  };
  std::string_view program, names;  // "-ot, --offset-t"
  value takes;
  meaning means;
  std::string_view here;
};
std::span<const peer_option> peer_options();

/// A command line in steno's words.
struct translated {
  std::vector<std::string> arguments;
  std::vector<std::string> notes;
  /// Options that were other ones, by the name that they have now: what a message about it adds.
  std::vector<std::pair<std::string, std::string>> origins;
};
/// Throws `stop` for what is refused. What no program of the table has stays as it is.
translated in_own_words(const std::vector<std::string>& arguments);

/// The table as text of at most 80 columns.
std::string peers_text();

}  // namespace steno::app
