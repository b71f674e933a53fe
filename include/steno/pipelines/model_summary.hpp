// steno/pipelines/model_summary.hpp - what a packaged file says of its model, whichever family it is of.
//
// Tested in tests/pipelines/recording_test.cpp and tests/programs/steno_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/metadata.hpp>
#include <steno/weights/gguf.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// Facts about a model, for people.
struct model_summary {
  std::string architecture;                                   ///< general.architecture
  std::string name;                                           ///< general.name
  int sample_rate = 0;                                        ///< Hz; 0: it takes no audio
  std::size_t parameters = 0;                                 ///< numbers in all tensors
  std::size_t tensors = 0;                                    ///< in the file
  std::size_t vocabulary = 0;                                 ///< tokens
  std::map<std::string, std::size_t> bytes_by_format;         ///< of tensors
  std::vector<std::string> languages;                         ///< that can be chosen
  std::vector<std::pair<std::string, std::string>> settings;  ///< numbers and strings of the file's metadata
};

/// All but the languages, which the file alone does not hold. Throws steno::error for a sample rate that is none.
STENO_ON_CALL STENO_COLD inline model_summary summarise(const gguf_file& file) {
  model_summary s;
  s.architecture = file.text("general.architecture").value_or("");
  s.name = file.text("general.name").value_or("");
  s.sample_rate = static_cast<int>(models::read_whole(file, s.architecture + ".frontend.sample_rate", 0, 1 << 20, 0));
  s.tensors = file.size();
  for (std::size_t i = 0; i < file.size(); ++i) {
    const weights::tensor_ref t = file.tensor(i);
    s.parameters += static_cast<std::size_t>(t.rows() * t.cols());
    s.bytes_by_format[std::string(core::info(t.format).name)] += t.bytes.size();
  }
  for (const weights::gguf_value& v : file.values()) {
    if (v.key == "tokenizer.ggml.tokens") s.vocabulary = v.count;
    if (v.type == weights::gguf_type::array) continue;
    if (v.type == weights::gguf_type::string) {
      s.settings.emplace_back(v.key, *v.text());
    } else if (const auto n = v.number()) {
      std::string text = std::to_string(*n);
      text.erase(text.find_last_not_of('0') + 1);
      if (text.ends_with('.')) text.pop_back();
      s.settings.emplace_back(v.key, text);
    }
  }
  return s;
}

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
