// tools/trace/paraformer.hpp - what the traces of all Paraformers have in common.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "convert/utf8_path.hpp"
#include "families.hpp"
#include "stages/paraformer.hpp"

namespace steno::trace {

/// Writes a stage; what has a number for each frame or hotword becomes a vector.
inline void write_stage(const job& j, std::string_view name, const view<const float>& x) {
  const bool one_row = name.ends_with("alphas_with_tail") || name.ends_with("cif_peaks") ||
                       name.ends_with("us_alphas") || name.ends_with("us_peaks") || name.ends_with("asf_scores");
  if (!one_row) return j.write(std::string(name), x);
  j.write(std::string(name), std::span(x.data(), static_cast<std::size_t>(x.size())), {x.size()});
}

template <class Model>
Model load_paraformer(job& j) {
  auto model = load<Model>(std::move(j.file));
  if (!j.set.take_flag("cmvn", true)) model.frontend.last.shift = {}, model.frontend.last.scale = {};
  return model;
}

/// The setting `hotwords`: words with spaces between them, each a phrase, or a .txt file with a phrase a line, as
/// FunASR's `hotword` argument. Nothing where it is not set.
struct hotword_setting {
  std::vector<std::string> phrases;
  std::string run;  ///< in front of the stages that hotwords change: hotwords_short_ or hotwords_file_
};
inline std::optional<hotword_setting> take_hotwords(settings& set) {
  constexpr const char* none = "\n";
  const std::string value = set.take("hotwords", none);
  if (value == none) return std::nullopt;
  hotword_setting s;
  if (value.ends_with(".txt") && std::filesystem::exists(utf8_path(value))) {
    std::ifstream file(utf8_path(value));
    for (std::string line; std::getline(file, line);) s.phrases.push_back(line);
    s.run = "hotwords_file_";
  } else {
    std::istringstream words(value);
    for (std::string w; words >> w;) s.phrases.push_back(w);
    s.run = "hotwords_short_";
  }
  return s;
}

}  // namespace steno::trace
