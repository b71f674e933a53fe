// tools/convert/nemo/tar.hpp - the members of a tar archive: names and where their bytes lie.
//
// ustar with its prefix field, GNU long names, pax records "path" and "size", sizes in octal or base 256. Only regular
// files are listed; a leading "./" is taken off. Every size is compared with what is left of the archive. Tested in
// tests/convert/nemo_test.cpp.
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace steno::inline STENO_ABI::nemo {

struct tar_member {
  std::string name;
  std::span<const std::byte> bytes;
};

/// True when the first block of `bytes` is a tar header.
bool is_tar(std::span<const std::byte> bytes);

/// All regular files; `where` names the archive in errors. Throws steno::error.
std::vector<tar_member> read_tar(std::span<const std::byte> bytes, const std::string& where);

/// What a gzip stream holds. Throws steno::error.
std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& where);

}  // namespace steno::inline STENO_ABI::nemo
