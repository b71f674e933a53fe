// tools/convert/npz.cpp - see npz.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "npz.hpp"

#include <steno/core/half.hpp>
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <zip.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

struct numpy_type {
  std::string_view descr;
  std::size_t size;
  dtype stored;
  float (*value)(const std::byte*);
};
template <class T>
float number_at(const std::byte* p) {
  return static_cast<float>(weights::load_as<T>(p));
}
float half_at(const std::byte* p) { return core::half_to_float(weights::load_as<std::uint16_t>(p)); }
constexpr numpy_type numpy_types[] = {
    {"<f2", 2, dtype::f16, half_at},
    {"<f4", 4, dtype::f32, number_at<float>},
    {"<f8", 8, dtype::f32, number_at<double>},
    {"<i4", 4, dtype::f32, number_at<std::int32_t>},
    {"<i8", 8, dtype::f32, number_at<std::int64_t>},
    {"<u4", 4, dtype::f32, number_at<std::uint32_t>},
    {"|i1", 1, dtype::f32, number_at<std::int8_t>},
    {"|u1", 1, dtype::f32, number_at<std::uint8_t>},
};

struct discarded {
  void operator()(struct zip* z) const { zip_discard(z); }
};
struct closed {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};
using archive_ptr = std::shared_ptr<struct zip>;

[[noreturn]] void refuse_entry(const std::string& where, std::string_view name, const std::string& what) {
  fail({.where = where, .what = "entry " + steno::weights::quoted(name) + ": " + what});
}

std::vector<std::byte> read_entry(const archive_ptr& archive, zip_uint64_t index, std::size_t size,
                                  const std::string& where, std::string_view name) {
  const std::unique_ptr<zip_file_t, closed> file(zip_fopen_index(archive.get(), index, 0));
  if (!file) refuse_entry(where, name, zip_strerror(archive.get()));
  std::vector<std::byte> content(size);
  std::size_t done = 0;
  while (done < size) {
    const zip_int64_t got = zip_fread(file.get(), content.data() + done, size - done);
    if (got <= 0) refuse_entry(where, name, "it ends too early or is damaged");
    done += static_cast<std::size_t>(got);
  }
  return content;
}

// What stands behind 'key': in the header, up to the end of a value.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
  const char end = rest.starts_with('(') ? ')' : ',';
  return rest.substr(0, rest.find(end));
}

stored_tensor parse(const archive_ptr& archive, zip_uint64_t index, std::size_t size, const std::string& where,
                    std::string_view entry) {
  const std::vector<std::byte> head =
      read_entry(archive, index, std::min<std::size_t>(size, limits::npy_header), where, entry);
  weights::byte_cursor at(where, head);
  if (std::memcmp(at.take(6, "a numpy array").data(), "\x93NUMPY", 6) != 0)
    refuse_entry(where, entry, "is no numpy array");
  const auto version = at.number<std::uint8_t>("the version of a numpy array");
  at.number<std::uint8_t>("the version of a numpy array");
  const std::uint64_t length =
      version == 1 ? at.number<std::uint16_t>("a length") : at.number<std::uint32_t>("a length");
  if (version < 1 || version > 3) refuse_entry(where, entry, "version " + std::to_string(version) + " is not known");
  const auto text = at.take(length, "the header of a numpy array");
  const std::string_view header(reinterpret_cast<const char*>(text.data()), text.size());
  std::string_view descr = value_of(header, "'descr'"), shape = value_of(header, "'shape'");
  if (value_of(header, "'fortran_order'") != "False") refuse_entry(where, entry, "it is stored by columns");
  if (descr.size() > 2) descr = descr.substr(1, descr.size() - 2);
  const numpy_type* type = nullptr;
  for (const numpy_type& t : numpy_types)
    if (t.descr == descr) type = &t;
  if (type == nullptr) refuse_entry(where, entry, "format " + steno::weights::quoted(descr) + " is not supported");
  stored_tensor t;
  t.name = std::string(entry.substr(0, entry.size() - 4));
  t.stored = type->stored;
  std::uint64_t count = 1;
  if (!shape.starts_with('(')) refuse_entry(where, entry, "it has no shape");
  for (shape.remove_prefix(1); !shape.empty();) {
    const std::size_t begin = shape.find_first_not_of(" ,");
    if (begin == std::string_view::npos) break;
    shape.remove_prefix(begin);
    std::uint64_t n = 0;
    const auto [end, failed] = std::from_chars(shape.data(), shape.data() + shape.size(), n);
    if (failed != std::errc() || n == 0 || !weights::checked_multiply(count, n, count) || count > size ||
        t.shape.size() == limits::rank)
      refuse_entry(where, entry, "its shape is no list of sizes, or too large");
    t.shape.push_back(static_cast<extent>(n));
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
  }
  if (t.shape.empty()) t.shape.push_back(1);
  const std::size_t begin = at.position();
  if (count * type->size != size - begin) refuse_entry(where, entry, "its shape does not fit its size");
  t.read = [archive, index, size, where, name = std::string(entry), begin, type](std::span<float> out) {
    const std::vector<std::byte> content = read_entry(archive, index, size, where, name);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = type->value(content.data() + begin + i * type->size);
  };
  return t;
}

}  // namespace

std::vector<stored_tensor> npz_tensors(std::span<const std::byte> bytes, const std::string& where) {
  zip_error_t why;
  zip_error_init(&why);
  const auto stop = [&] {
    const std::string text = zip_error_strerror(&why);
    zip_error_fini(&why);
    fail({.where = where, .what = "the zip archive cannot be read: " + text, .hint = "it may have been cut short"});
  };
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &why);
  if (source == nullptr) stop();
  struct zip* const opened = zip_open_from_source(source, ZIP_RDONLY, &why);
  if (opened == nullptr) {
    zip_source_free(source);
    stop();
  }
  zip_error_fini(&why);
  const archive_ptr archive(opened, discarded());
  const zip_int64_t entries = zip_get_num_entries(opened, 0);
  if (entries > static_cast<zip_int64_t>(limits::members))
    fail({.where = where, .what = "the zip archive has " + std::to_string(entries) + " entries"});
  std::vector<stored_tensor> all;
  std::uint64_t total = 0;
  for (zip_int64_t i = 0; i < entries; ++i) {
    zip_stat_t facts;
    if (zip_stat_index(opened, static_cast<zip_uint64_t>(i), 0, &facts) != 0 ||
        (facts.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE)) != (ZIP_STAT_NAME | ZIP_STAT_SIZE))
      fail({.where = where, .what = "an entry of the zip archive cannot be read"});
    if (__builtin_add_overflow(total, facts.size, &total) || limits::unpacks_too_far(total, bytes.size()))
      fail({.where = where, .what = "the zip archive claims to hold far more than its size allows"});
    const std::string_view name = facts.name;
    if (!name.ends_with(".npy")) refuse_entry(where, name, "is no numpy array");
    all.push_back(parse(archive, static_cast<zip_uint64_t>(i), static_cast<std::size_t>(facts.size), where, name));
  }
  return all;
}

}  // namespace STENO_ABI
}  // namespace steno
