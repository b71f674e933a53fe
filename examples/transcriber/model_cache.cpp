// SPDX-License-Identifier: Apache-2.0
#include "model_cache.hpp"

#include <steno/error.hpp>
#include <steno/weights/gguf.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "convert.hpp"
#include "families.hpp"
#include "folder_entries.hpp"
#include "system.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace fs = std::filesystem;
namespace {

class content_hash {
 public:
  content_hash() : state_(XXH3_createState()) {
    if (state_ == nullptr || XXH3_128bits_reset(state_.get()) == XXH_ERROR) throw std::bad_alloc();
  }
  void add(std::string_view bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }
  // With lengths, so that no two lists of texts look the same.
  void add_text(const std::string& text) {
    add(std::to_string(text.size()) + ":");
    add(text);
  }
  void add_file(const fs::path& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(system::open_stream(path.string(), "rb"), &std::fclose);
    if (!file) fail({.where = path.string(), .what = "cannot be read"});
    std::vector<char> block(1 << 20);
    std::uint64_t bytes = 0;
    for (std::size_t n = 0; (n = std::fread(block.data(), 1, block.size(), file.get())) > 0; bytes += n)
      add({block.data(), n});
    if (std::ferror(file.get()) != 0) fail({.where = path.string(), .what = "cannot be read to its end"});
    add(":" + std::to_string(bytes));
  }
  std::string text() const {
    const XXH128_hash_t h = XXH3_128bits_digest(state_.get());
    char digits[33];
    std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(h.high64),
                  static_cast<unsigned long long>(h.low64));
    return digits;
  }

 private:
  struct release {
    void operator()(XXH3_state_t* s) const { XXH3_freeState(s); }
  };
  std::unique_ptr<XXH3_state_t, release> state_;
};

// A file, or all files of a folder and of those in it: a checkpoint's parts are never deeper.
void add_content(content_hash& hash, const fs::path& path, const std::string& name, int depth) {
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    hash.add_text(name);
    hash.add_file(path);
    return;
  }
  if (depth == 0) return;
  for (const fs::path& entry : folder_entries(path))
    if (entry.filename().string()[0] != '.')
      add_content(hash, entry, name + "/" + entry.filename().string(), depth - 1);
}

bool is_packaged(const fs::path& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) return false;
  try {
    return find_packaged(gguf_file(path.string()).text("general.architecture").value_or("")) != nullptr;
  } catch (const error&) {
    return false;
  }
}

fs::path cache_folder() {
  std::string hint;
  const std::string folder = system::cache_folder(hint);
  if (folder.empty()) fail({.where = "--cache", .what = "there is no cache directory", .hint = hint});
  return utf8_path(folder) / "steno" / "models";
}

}  // namespace

std::optional<cached_model> cached_copy(const fs::path& checkpoint, const std::optional<fs::path>& tokenizer) {
  if (is_packaged(checkpoint)) return std::nullopt;
  content_hash hash;
  if (const auto program = system::facts_of(system::own_program()))  // what converts; another may do it otherwise
    hash.add_text(std::to_string(program->bytes) + " " + std::to_string(program->changed) + " " +
                  std::to_string(program->nanoseconds));
  add_content(hash, checkpoint, "", 4);
  if (tokenizer) add_content(hash, *tokenizer, "tokenizer", 2);
  const fs::path folder = cache_folder();
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) fail({.where = folder.string(), .what = "cannot make the directory: " + failed.message()});
  cached_model copy{folder / (hash.text() + ".gguf"), {}};
  const fs::path notes = utf8_path(copy.path.string() + ".notes");
  if (fs::exists(copy.path, failed)) {
    std::ifstream in(notes, std::ios::binary);
    for (std::string line; std::getline(in, line);) copy.notes.push_back(line);
    return copy;
  }
  copy.notes = convert(checkpoint, copy.path, {.tokenizer = tokenizer});
  std::ofstream out(notes, std::ios::binary);
  for (const std::string& note : copy.notes) out << note << '\n';
  if (!out.flush()) {  // a copy without its notes would be silent about them
    fs::remove(copy.path, failed);
    fail({.where = notes.string(), .what = "cannot be written"});
  }
  copy.notes.push_back("a converted copy of " + checkpoint.string() + " is kept as " + copy.path.string());
  return copy;
}

}  // namespace steno::app
