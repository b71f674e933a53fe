// tools/convert/whisper/tokenizer_places.cpp - where a machine that has used Whisper holds its tokenizer.
//
// openai's checkpoints come without one: the Python package brings it (whisper/assets, and mlx_whisper/assets), and
// transformers puts it into its cache (models--openai--whisper-*/snapshots). Environments are looked for where Python
// looks. Nothing is searched but folders of these names. Tested in tests/convert/whisper_tokenizer_test.cpp.
#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Folders in `at` whose names begin so, by name.
std::vector<fs::path> folders_in(const fs::path& at, std::string_view beginning) {
  constexpr std::size_t most = 4096;
  std::vector<fs::path> all;
  std::error_code failed;
  for (fs::directory_iterator e(at, failed), end; !failed && e != end && all.size() < most; e.increment(failed))
    if (e->path().filename().string().starts_with(beginning)) all.push_back(e->path());
  std::sort(all.begin(), all.end());
  return all;
}

void add_packages(std::vector<fs::path>& to, const fs::path& site) {
  for (const char* package : {"whisper", "mlx_whisper"}) to.push_back(site / package / "assets");
}

void add_environment(std::vector<fs::path>& to, const fs::path& prefix) {
  for (const fs::path& python : folders_in(prefix / "lib", "python3"))
    for (const char* packages : {"site-packages", "dist-packages"}) add_packages(to, python / packages);
}

}  // namespace

std::vector<fs::path> tokenizer_places(bool english_only) {
  std::vector<fs::path> all;
  const std::string home = variable("HOME");
  const std::string paths = variable("PYTHONPATH");
  for (std::size_t at = 0; at < paths.size();) {
    const std::size_t end = std::min(paths.find(':', at), paths.size());
    if (end > at) add_packages(all, paths.substr(at, end - at));
    at = end + 1;
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = variable(name); !prefix.empty()) add_environment(all, prefix);
  if (!home.empty()) add_environment(all, fs::path(home) / ".local");
  for (const char* prefix : {"/usr/local", "/usr"}) add_environment(all, prefix);

  std::vector<fs::path> caches;
  const auto cache = [&](const std::string& root, const char* below) {
    if (!root.empty()) caches.push_back(fs::path(root) / below);
  };
  cache(variable("HF_HUB_CACHE"), "");
  cache(variable("HUGGINGFACE_HUB_CACHE"), "");
  cache(variable("HF_HOME"), "hub");
  cache(variable("XDG_CACHE_HOME"), "huggingface/hub");
  cache(home, ".cache/huggingface/hub");
  for (const fs::path& hub : caches)
    for (const fs::path& model : folders_in(hub, "models--openai--whisper-"))
      if (model.filename().string().ends_with(".en") == english_only)
        for (const fs::path& snapshot : folders_in(model / "snapshots", "")) all.push_back(snapshot);
  return all;
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
