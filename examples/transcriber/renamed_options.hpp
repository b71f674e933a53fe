// Options that have another name now; the one that they had works for this version, with a note.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace steno::app {

struct renamed_option {
  std::string_view before, now;
};
/// One name may have become several, of which a verb has one.
inline constexpr renamed_option renamed_options[] = {{"--longest", "--max-clip-seconds"},
                                                     {"--longest", "--max-utterance-seconds"},
                                                     {"--clips", "--parallel-clips"},
                                                     {"--merge", "--merge-seconds"},
                                                     {"--no-rescoring", "--no-rescore"}};

/// Puts the names of today into `arguments`, where the verb's options in `app` have them, and a note for each into
/// `notes`.
void rename_options(std::vector<std::string>& arguments, const CLI::App& app, std::vector<std::string>& notes);

}  // namespace steno::app
