// jieba's dictionary, a user's words and a text, with an empty line between them: any bytes are refused with
// steno::error, or cut into words that are the text again.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "funasr/word_tables.hpp"
#include "fuzz.hpp"

using namespace steno_fuzz;

namespace {
std::string_view take_part(std::string_view& all) {
  const std::size_t end = std::min(all.find("\n\n"), all.size());
  const std::string_view part = all.substr(0, end);
  all.remove_prefix(std::min(end + 2, all.size()));
  return part;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = text_of(data, size);
  const std::string_view common = take_part(rest), user = take_part(rest);
  read_or_refuse([&] {
    auto words = steno::funasr_files::read_common_words(common, "dict.txt");
    steno::funasr_files::add_user_words(words, user, "jieba_usr_dict");
    require(words.size() > 0 && words.total >= 1);
    std::string all;
    for (const std::string_view w : words.cut(rest)) {
      require(!w.empty());
      all += w;
    }
    require(all == rest);
    for (const std::string& w : steno::tokenizers::split_words(rest, words)) require(!w.empty());
  });
  return 0;
}
