// tools/convert/nemo/tar.cpp - see tar.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/tar.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <archive.h>
#include <archive_entry.h>

#include <cstdint>
#include <memory>

#include "content.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

struct closer {
  void operator()(archive* a) const { archive_read_free(a); }
};
using reader = std::unique_ptr<archive, closer>;

[[noreturn]] void bad(archive* a, const std::string& where) {
  const char* const why = archive_error_string(a);
  fail({.where = where,
        .what = "the archive is damaged: " + steno::weights::quoted(why == nullptr ? "it ends too early" : why),
        .expected = "a tar, perhaps gzip"});
}

reader open(std::span<const std::byte> bytes, const std::string& where) {
  reader a(archive_read_new());
  if (a == nullptr) fail({.where = where, .what = "there is not enough memory"});
  // Nothing else: libarchive would start programs for filters that it cannot do itself.
  const bool ready = archive_read_support_format_tar(a.get()) == ARCHIVE_OK &&
                     (!is_gzip(bytes) || archive_read_support_filter_gzip(a.get()) == ARCHIVE_OK) &&
                     archive_read_open_memory(a.get(), bytes.data(), bytes.size()) == ARCHIVE_OK;
  if (!ready) bad(a.get(), where);
  return a;
}

std::string name_of(archive_entry* e) {
  const char* const raw = archive_entry_pathname(e);
  std::string name = raw == nullptr ? "" : raw;
  while (name.starts_with("./")) name.erase(0, 2);
  return name;
}

}  // namespace

bool is_tar(std::span<const std::byte> bytes) {
  return bytes.size() >= 512 && starts_with(bytes.subspan(257), "ustar");
}

bool is_gzip(std::span<const std::byte> bytes) { return starts_with(bytes, "\x1f\x8b"); }

tar_archive::tar_archive(std::span<const std::byte> bytes, const std::string& where) {
  const reader a = open(bytes, where);
  archive_entry* entry = nullptr;
  std::size_t entries = 0;
  std::uint64_t unpacked = 0;  // what all members up to this one claim, whether they are read or skipped
  for (int status; (status = archive_read_next_header(a.get(), &entry)) != ARCHIVE_EOF;) {
    if (status < ARCHIVE_WARN) bad(a.get(), where);
    if (++entries > limits::members)
      fail({.where = where,
            .what = "members of the archive",
            .expected = "up to " + std::to_string(limits::members),
            .found = "more"});
    const std::int64_t claimed = archive_entry_size(entry);
    if (claimed < 0 || !weights::checked_add(unpacked, static_cast<std::uint64_t>(claimed), unpacked) ||
        limits::unpacks_too_far(unpacked, bytes.size()))
      fail({.where = where,
            .what = "the archive claims to hold far more than its size allows",
            .expected = "up to 8 times its " + std::to_string(bytes.size()) + " bytes"});
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) continue;
    tar_member m{.name = name_of(entry), .bytes = {}};
    std::vector<std::byte> copy;
    const void* part = nullptr;
    std::size_t size = 0;
    std::int64_t offset = 0;
    while ((status = archive_read_data_block(a.get(), &part, &size, &offset)) != ARCHIVE_EOF) {
      if (status < ARCHIVE_WARN) bad(a.get(), where);
      if (size == 0) continue;
      const std::span<const std::byte> block(static_cast<const std::byte*>(part), size);
      const std::size_t before = copy.empty() ? m.bytes.size() : copy.size();
      if (offset != static_cast<std::int64_t>(before))
        fail({.where = where, .what = "the member " + steno::weights::quoted(m.name) + " has holes"});
      const bool inside = block.data() >= bytes.data() && block.data() + size <= bytes.data() + bytes.size();
      const bool joined = copy.empty() && (m.bytes.empty() || m.bytes.data() + m.bytes.size() == block.data());
      if (inside && joined) {
        m.bytes = {before == 0 ? block.data() : m.bytes.data(), before + size};
        continue;
      }
      if (copy.empty()) copy.assign(m.bytes.begin(), m.bytes.end());
      copy.insert(copy.end(), block.begin(), block.end());
    }
    if (!copy.empty()) m.bytes = inflated_.emplace_back(std::move(copy));
    members_.push_back(std::move(m));
  }
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
