// tools/convert/torch/archive.cpp - see archive.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "torch/archive.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace torch {

namespace {
constexpr std::uint64_t largest_pickle = std::uint64_t{64} << 20;  // real ones have some hundred bytes a tensor
constexpr std::size_t piece_bytes = std::size_t{1} << 20;          // of records: whole elements of every type
constexpr unsigned char magic_number[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}
}  // namespace

/// The bytes as libzip reads them. It says what an entry is, but not where: where it read last does.
class archive::source {
 public:
  explicit source(std::span<const std::byte> bytes) noexcept : bytes_(bytes) { zip_error_init(&error_); }
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  ~source() { zip_error_fini(&error_); }

  std::uint64_t last_read() const noexcept { return last_; }  ///< the place of the first byte of it
  static zip_int64_t call(void* self, void* data, zip_uint64_t size, zip_source_cmd_t what) {
    return static_cast<source*>(self)->answer(what, data, size);
  }

 private:
  zip_int64_t answer(zip_source_cmd_t what, void* data, zip_uint64_t size) {
    switch (what) {
      case ZIP_SOURCE_OPEN:
        at_ = 0;
        return 0;
      case ZIP_SOURCE_READ: {
        const auto n = static_cast<std::size_t>(std::min<zip_uint64_t>(size, bytes_.size() - at_));
        if (n > 0) std::memcpy(data, bytes_.data() + at_, n);
        last_ = at_;
        at_ += n;
        return static_cast<zip_int64_t>(n);
      }
      case ZIP_SOURCE_SEEK: {
        const zip_int64_t to = zip_source_seek_compute_offset(at_, bytes_.size(), data, size, &error_);
        if (to < 0) return -1;
        at_ = static_cast<std::size_t>(to);
        return 0;
      }
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(at_);
      case ZIP_SOURCE_STAT: {
        zip_stat_t facts;
        zip_stat_init(&facts);
        facts.size = bytes_.size();
        facts.valid = ZIP_STAT_SIZE;
        std::memcpy(data, &facts, sizeof facts);
        return sizeof facts;
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, size);
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_CLOSE, ZIP_SOURCE_FREE,
                                              ZIP_SOURCE_SUPPORTS, -1);
      default:
        zip_error_set(&error_, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0, last_ = 0;
  zip_error_t error_;
};

namespace {
struct file_closer {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};
using open_entry = std::unique_ptr<zip_file_t, file_closer>;
}  // namespace

void archive::closer::operator()(struct zip* z) const { zip_discard(z); }

archive::archive(archive&&) noexcept = default;
archive::~archive() = default;

void archive::bad(const std::string& why) const { fail({.where = where_, .what = why}); }

archive::archive(std::span<const std::byte> bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {
  if (begins_with(bytes_, "version https://git-lfs"))
    fail({.where = where_, .what = "a git-LFS pointer, not the file itself", .hint = "run git lfs pull"});
  if (begins_with(bytes_, "PK"))
    open_zip();
  else if (begins_with(bytes_, "\x80"))
    open_legacy();
  else
    fail({.where = where_, .what = "not a file of torch.save", .expected = "a zip archive or a pickle"});
}

// --- zip ---------------------------------------------------------------------------------------------------------

void archive::open_zip() {
  zip_error_t why;
  zip_error_init(&why);
  const auto stop = [&] {
    const std::string text = zip_error_strerror(&why);
    zip_error_fini(&why);
    fail({.where = where_, .what = "the zip archive cannot be read: " + text, .hint = "it may have been cut short"});
  };
  source_ = std::make_unique<source>(bytes_);
  zip_source_t* const opened = zip_source_function_create(source::call, source_.get(), &why);
  if (opened == nullptr) stop();
  zip_.reset(zip_open_from_source(opened, ZIP_RDONLY, &why));
  if (!zip_) {
    zip_source_free(opened);
    stop();
  }
  zip_error_fini(&why);

  std::uint64_t total = 0;
  std::string found;
  bool torch_script = false;
  const zip_int64_t entries = zip_get_num_entries(zip_.get(), 0);
  if (entries > static_cast<zip_int64_t>(limits::members))
    bad("the zip archive has " + std::to_string(entries) + " entries, which is more than any checkpoint's");
  for (zip_int64_t i = 0; i < entries; ++i) {
    zip_stat_t facts;
    if (zip_stat_index(zip_.get(), static_cast<zip_uint64_t>(i), 0, &facts) != 0 ||
        (facts.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE)) != (ZIP_STAT_NAME | ZIP_STAT_SIZE))
      bad("an entry of the zip archive cannot be read");
    if (__builtin_add_overflow(total, facts.size, &total) || limits::unpacks_too_far(total, bytes_.size()))
      bad("the zip archive claims to hold far more than its size allows");
    const std::string_view name = facts.name;
    if (name == "data.pkl" || (name.ends_with("/data.pkl") && (found.empty() || name.size() < found.size())))
      found = name;
    torch_script = torch_script || name.ends_with("/constants.pkl");
  }
  if (torch_script)
    fail({.where = where_,
          .what = "a TorchScript archive (code and weights)",
          .expected = "a checkpoint of torch.save"});
  if (found.empty())
    fail({.where = where_, .what = "a zip archive, but not one of torch.save", .expected = "an entry data.pkl in it"});
  folder_ = found.substr(0, found.size() - std::string_view("data.pkl").size());

  if (zip_name_locate(zip_.get(), (folder_ + "byteorder").c_str(), 0) >= 0) {
    const std::vector<std::byte> order = read_entry(folder_ + "byteorder");
    if (!begins_with(order, "little")) bad("byte order is not little endian");
  }
  pickle_bytes_ = read_entry(found);
  object_ = std::make_unique<pickle>(pickle_bytes_, where_);
}

std::uint64_t archive::size_of_entry(const std::string& name, std::uint64_t* index) const {
  zip_stat_t facts;
  if (zip_stat(zip_.get(), name.c_str(), 0, &facts) != 0) bad_entry(name, "missing");
  if (index != nullptr) *index = facts.index;
  return facts.size;
}

void archive::bad_entry(const std::string& name, const std::string& why) const {
  bad("entry " + steno::weights::quoted(name) + " of the zip archive: " + why);
}

std::vector<std::byte> archive::read_entry(const std::string& name) const {
  const std::uint64_t size = size_of_entry(name);
  if (name.ends_with("data.pkl") && size > largest_pickle) bad_entry(name, "larger than any checkpoint's");
  std::vector<std::byte> content(static_cast<std::size_t>(size));
  read_pieces(name, content, [](std::span<const std::byte>) {});
  return content;
}

// Fills `piece` again and again and hands it over, until the entry ends.
template <class F>
void archive::read_pieces(const std::string& name, std::span<std::byte> piece, F&& take) const {
  std::uint64_t index = 0;
  const std::uint64_t size = size_of_entry(name, &index);
  const open_entry file(zip_fopen_index(zip_.get(), index, 0));
  if (!file) bad_entry(name, zip_strerror(zip_.get()));
  std::uint64_t done = 0;
  std::size_t held = 0;
  for (;;) {  // the read after the last byte makes libzip compare the CRC
    std::byte beyond{};
    const bool full = done == size;
    const zip_int64_t got = zip_fread(file.get(), full ? &beyond : piece.data() + held,
                                      full ? 1 : std::min<std::uint64_t>(piece.size() - held, size - done));
    if (got < 0) bad_entry(name, zip_file_strerror(file.get()));
    if (got == 0) break;
    if (full) bad_entry(name, "longer than it says");
    done += static_cast<std::uint64_t>(got);
    held += static_cast<std::size_t>(got);
    if (held < piece.size() && done < size) continue;
    take(std::span<const std::byte>(piece.first(held)));
    held = 0;
  }
  if (done != size) bad_entry(name, "cut short");
}

std::span<const std::byte> archive::stored_entry(const std::string& name) {
  constexpr zip_uint64_t wanted =
      ZIP_STAT_INDEX | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD | ZIP_STAT_CRC;
  zip_stat_t facts;
  if (zip_stat(zip_.get(), name.c_str(), 0, &facts) != 0 || (facts.valid & wanted) != wanted ||
      facts.comp_method != ZIP_CM_STORE || facts.encryption_method != ZIP_EM_NONE)
    return {};
  const open_entry file(zip_fopen_index(zip_.get(), facts.index, 0));
  std::byte first{};
  if (!file || zip_fread(file.get(), &first, 1) != 1) return {};
  const std::uint64_t at = source_->last_read();
  if (at > bytes_.size() || facts.size > bytes_.size() - at) return {};
  const auto part = bytes_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(facts.size));
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(part.data()), part.size());
  return crc == facts.crc ? part : std::span<const std::byte>();
}

// --- legacy ------------------------------------------------------------------------------------------------------

void archive::open_legacy() {
  std::size_t position = 0;
  const auto rest = [&] { return bytes_.subspan(position); };
  const auto next = [&] {
    auto p = std::make_unique<pickle>(rest(), where_);
    position += p->end();
    return p;
  };
  using kind = pickle::kind;
  const auto magic = next();
  if (magic->root().what != kind::huge_integer || magic->root().text.size() != sizeof magic_number ||
      std::memcmp(magic->root().text.data(), magic_number, sizeof magic_number) != 0)
    fail({.where = where_, .what = "a pickle, but not one of torch.save"});
  const auto protocol = next();
  if (protocol->root().what != kind::integer || protocol->root().number != 1001)
    bad("unknown version of the torch format");
  const auto system = next();
  if (const pickle::node* little = system->find(system->root(), "little_endian");
      little != nullptr && little->what == kind::boolean && little->number == 0)
    bad("byte order is not little endian");
  object_ = next();
  const auto keys = next();
  if (keys->root().what != kind::list) bad("the list of storages is missing");

  std::unordered_map<std::string_view, scalar> types;
  for (const storage& s : object_->storages()) types.emplace(s.key, s.type);
  for (const pickle::id i : keys->root().items) {
    const pickle::node& key = keys->at(i);
    const auto type = key.what == kind::text ? types.find(key.text) : types.end();
    if (type == types.end()) bad("the list of storages names one that no tensor uses");
    if (rest().size() < 8) bad("the file is cut short");
    std::uint64_t count = 0;
    std::memcpy(&count, rest().data(), 8);
    position += 8;
    const std::size_t width = size_of_scalar(type->second);
    if (count > rest().size() / width) bad("the file is cut short: a storage ends after the end of the file");
    const std::size_t size = static_cast<std::size_t>(count) * width;
    legacy_records_.emplace(std::string(key.text), rest().first(size));
    position += size;
  }
}

std::string archive::entry_of(const storage& s) const { return folder_ + "data/" + std::string(s.key); }

std::span<const std::byte> archive::legacy_record(const storage& s) const {
  const auto found = legacy_records_.find(std::string(s.key));
  if (found == legacy_records_.end()) bad("a storage that a tensor uses is missing");
  return found->second;
}

std::uint64_t archive::size_of_record(const storage& s) const {
  return zip_ ? size_of_entry(entry_of(s)) : legacy_record(s).size();
}

std::span<const std::byte> archive::stored_record(const storage& s) {
  if (!zip_) return legacy_record(s);
  const std::string name = entry_of(s);
  const auto known = stored_.find(name);
  return known != stored_.end() ? known->second : stored_.emplace(name, stored_entry(name)).first->second;
}

void archive::pass_record(const storage& s, const std::function<void(std::span<const std::byte>)>& take) const {
  if (zip_) {
    std::vector<std::byte> piece(piece_bytes);
    return read_pieces(entry_of(s), piece, take);
  }
  for (auto rest = legacy_record(s); !rest.empty(); rest = rest.subspan(std::min(piece_bytes, rest.size())))
    take(rest.first(std::min(piece_bytes, rest.size())));
}

std::span<const std::byte> archive::record(const storage& s) {
  std::span<const std::byte> content;
  if (zip_) {
    const std::string name = entry_of(s);
    if (name != kept_name_) {
      kept_name_.clear();
      kept_ = {};
      kept_ = read_entry(name);
      kept_name_ = name;
    }
    content = kept_;
  } else {
    content = legacy_record(s);
  }
  std::uint64_t end = 0, needed = 0;
  if (__builtin_add_overflow(s.first, s.count, &end) || __builtin_mul_overflow(end, size_of_scalar(s.type), &needed) ||
      needed > content.size())
    fail({.where = where_,
          .what = "storage " + steno::weights::quoted(s.key) + " is too short",
          .expected = std::to_string(end) + " elements of " + std::string(name_of_scalar(s.type)),
          .found = std::to_string(content.size()) + " bytes"});
  return content;
}

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno
