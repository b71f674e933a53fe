// tools/convert/nemo/tar.hpp - the members of a tar archive, plain or inside gzip: names and bytes.
//
// libarchive reads it. Only regular files are listed; a leading "./" is taken off. What a plain archive holds is not
// copied: members are spans of it. Inflated ones are kept in memory. Tested in tests/convert/nemo_test.cpp, fuzzed by
// tests/fuzz/tar_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

struct tar_member {
  std::string name;
  std::span<const std::byte> bytes;
};

/// True when `bytes` begin as a tar archive does.
bool is_tar(std::span<const std::byte> bytes);
/// True when they begin as a gzip stream does.
bool is_gzip(std::span<const std::byte> bytes);

/// All regular files of an archive. Move-only.
class tar_archive {
 public:
  /// `bytes` must outlive this; `where` names the archive in errors. Throws steno::error.
  tar_archive(std::span<const std::byte> bytes, const std::string& where);
  tar_archive(tar_archive&&) = default;
  tar_archive& operator=(tar_archive&&) = default;

  const std::vector<tar_member>& members() const noexcept { return members_; }

 private:
  std::vector<tar_member> members_;
  std::deque<std::vector<std::byte>> inflated_;
};

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
