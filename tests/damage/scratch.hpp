// A folder for scratch files, in memory where there is one; it is removed at the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace steno::damage {

class scratch_folder {
 public:
  scratch_folder() {
    namespace fs = std::filesystem;
    const fs::path memory = "/dev/shm",
                   place = ::access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
    std::string name = (place / "steno-damage-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder for scratch files");
    path_ = name;
  }
  scratch_folder(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace steno::damage
