// tools/convert/whisper/tokenizer_places.cpp - where a machine that has used Whisper holds its tokenizer.
//
// openai's checkpoints come without one: the Python package brings it (whisper/assets, and mlx_whisper/assets), and
// transformers puts it into its cache (models--openai--whisper-*/snapshots). Nothing is searched but folders of these
// names. Tested in tests/convert/whisper_tokenizer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "python_packages.hpp"
#include "utf8_path.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;

std::vector<fs::path> tokenizer_places(bool english_only) {
  std::vector<fs::path> all;
  for (const fs::path& site : python_packages())
    for (const char* package : {"whisper", "mlx_whisper"}) all.push_back(site / package / "assets");

  std::vector<fs::path> caches;
  const auto cache = [&](const std::string& root, const char* below) {
    if (!root.empty()) caches.push_back((utf8_path(root) / below).make_preferred());
  };
  cache(environment_variable("HF_HUB_CACHE"), "");
  cache(environment_variable("HUGGINGFACE_HUB_CACHE"), "");
  cache(environment_variable("HF_HOME"), "hub");
  cache(environment_variable("XDG_CACHE_HOME"), "huggingface/hub");
  cache(home_folder(), ".cache/huggingface/hub");
  for (const fs::path& hub : caches)
    for (const fs::path& model : folders_in(hub, "models--openai--whisper-"))
      if (model.filename().string().ends_with(".en") == english_only)
        for (const fs::path& snapshot : folders_in(model / "snapshots", "")) all.push_back(snapshot);
  return all;
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
