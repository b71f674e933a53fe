// steno/weights/gguf_writer.hpp - writes a GGUF container, version 3, byte for byte as ggml's writer lays it out.
//
// Keys and tensors keep the order in which they are added. Tensors are given as bytes or as a callback that fills a
// buffer, so a file may be larger than memory: one tensor is held at a time. Whatever the reader would refuse is
// refused here. The file grows under a temporary name beside the target and takes the target's name when it is
// complete. Layout: gguf_format.hpp. Tested in tests/weights/gguf_writer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/atomic_file.hpp>
#include <steno/weights/byte_filler.hpp>
#include <steno/weights/gguf_layout.hpp>
#include <steno/weights/gguf_value.hpp>

#include <initializer_list>
#include <set>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// Collects keys and tensors, then writes them. Everything that is wrong throws steno::error.
class gguf_writer {
 public:
  // --- keys. A key may be set once. Setting general.alignment (a std::uint32_t) also sets the alignment of the file.

  /// A number of exactly type T: bool, float, double, std::uint8_t ... std::int64_t.
  template <class T>
  requires std::is_arithmetic_v<T>
  void set(std::string_view key, T value) {
    if constexpr (std::is_same_v<T, std::uint32_t>) {
      if (key == gguf_alignment_key && !is_power_of_two(value))
        refuse("key " + quoted(key), "a power of two", std::to_string(value));
    }
    begin_pair(key, detail::gguf_type_of<T>());
    put_number(value);
    if (key == gguf_alignment_key) alignment_ = static_cast<std::uint32_t>(value);  // begin_pair lets only u32 pass
  }
  /// A string.
  STENO_ON_CALL void set(std::string_view key, std::string_view text) {
    check_length(key, text.size());
    begin_pair(key, gguf_type::string);
    put_string(text);
  }
  /// An array of numbers.
  template <class T>
  requires std::is_arithmetic_v<T>
  void set(std::string_view key, std::span<const T> values) {
    begin_array(key, detail::gguf_type_of<T>(), values.size());
    for (const T v : values) put_number(v);
  }
  /// The same of a vector. Not of std::vector<bool>, whose elements are no bools in memory.
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) void set(std::string_view key,
                                                                         const std::vector<T>& values) {
    set(key, std::span<const T>(values));
  }
  /// An array of strings.
  STENO_ON_CALL void set(std::string_view key, std::span<const std::string> values) {
    std::size_t all = 0;
    for (const std::string& v : values) {
      check_length(key, v.size());
      all += sizeof(std::uint64_t) + v.size();
    }
    make_room(all);
    begin_array(key, gguf_type::string, values.size());
    for (const std::string& v : values) put_string(v);
  }
  /// An array of strings.
  STENO_ON_CALL void set(std::string_view key, const std::vector<std::string>& values) {
    set(key, std::span<const std::string>(values));
  }
  /// The same of another file.
  STENO_ON_CALL void set(std::string_view key, const stored_strings& values) {
    for (const std::string_view v : values) check_length(key, v.size());
    make_room(values.bytes().size());
    begin_array(key, gguf_type::string, values.size());
    start_.append(reinterpret_cast<const char*>(values.bytes().data()), values.bytes().size());
  }
  /// Whether the key is set.
  bool has(std::string_view key) const { return keys_.find(key) != keys_.end(); }
  /// A pair of another file, of any type.
  STENO_ON_CALL void copy(const gguf_value& v) {
    if (const auto n = v.get<std::uint32_t>()) return set(v.key, *n);
    if (v.is_array())
      begin_array(v.key, v.element, v.count);
    else
      begin_pair(v.key, v.type);
    if (v.type == gguf_type::string) put_number(std::uint64_t{v.raw.size()});
    start_.append(reinterpret_cast<const char*>(v.raw.data()), v.raw.size());
  }

  /// The file as it is without tensors, for readers of keys. Valid until the next key is set.
  std::span<const std::byte> keys() const noexcept { return std::as_bytes(std::span(start_)); }

  // --- tensors. `shape` is row-major (outermost first); any format of ggml may be written.

  /// A tensor whose bytes exist and stay alive until the file is written.
  STENO_ON_CALL void add(std::string_view name, dtype format, std::span<const extent> shape,
                         std::span<const std::byte> bytes) {
    entry& t = add_entry(name, format, shape);
    t.bytes = bytes;
    if (bytes.size() == t.size) return;
    const std::string expected = std::to_string(t.size) + " bytes", found = std::to_string(bytes.size()) + " bytes";
    names_.erase(t.name);
    tensors_.pop_back();
    refuse("tensor " + quoted(name), expected, found);
  }
  /// A tensor whose bytes are made while the file is written: fill(std::span<std::byte>) gets zeros and may throw.
  template <class Fill>
  requires std::is_invocable_v<Fill&, std::span<std::byte>>
  void add(std::string_view name, dtype format, std::span<const extent> shape, Fill&& fill) {
    byte_filler filler(std::forward<Fill>(fill));
    add_entry(name, format, shape).fill = std::move(filler);
  }
  /// Either of these, for a shape that is written out: {rows, cols}.
  template <class Content>
  void add(std::string_view name, dtype format, std::initializer_list<extent> shape, Content&& content) {
    add(name, format, std::span<const extent>(shape.begin(), shape.size()), std::forward<Content>(content));
  }

  /// Multiple of bytes at which tensors begin: 32, unless general.alignment is set.
  std::uint32_t alignment() const noexcept { return alignment_; }
  /// Size of the whole file in bytes.
  STENO_ON_CALL std::uint64_t size() const { return layout().end; }

  /// Writes the file. `progress(done, total)` is called with bytes after each tensor. When anything fails, the error is
  /// passed on and neither the target nor a temporary file is left changed.
  template <class Progress>
  void write(const std::string& path, Progress&& progress) const {
    atomic_file out(path);
    emit([&](std::span<const std::byte> part) { out.write(part); }, progress);
    out.commit();
  }
  /// The same without reports of progress.
  STENO_ON_CALL void write(const std::string& path) const {
    write(path, [](std::uint64_t, std::uint64_t) {});
  }
  /// The same bytes in memory.
  STENO_ON_CALL std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(static_cast<std::size_t>(size()));
    fill(all);
    return all;
  }
  /// The same where there are size() zeros.
  STENO_ON_CALL void fill(std::span<std::byte> zeros) const {
    const places at = layout();
    std::byte* to = zeros.data();
    for (const std::string_view part : {std::string_view(at.before), pairs(), std::string_view(at.after)}) {
      std::memcpy(to, part.data(), part.size());
      to += part.size();
    }
    std::span<std::byte> rest = zeros.subspan(static_cast<std::size_t>(at.data));
    for (const entry& t : tensors_) {
      const auto place = rest.first(static_cast<std::size_t>(t.size));
      if (t.fill)
        t.fill(place);
      else
        std::copy(t.bytes.begin(), t.bytes.end(), place.begin());
      rest = rest.subspan(static_cast<std::size_t>(t.size + padding_of(t)));
    }
  }

 private:
  struct entry {
    std::string name;
    dtype format;
    std::vector<extent> shape;
    std::uint64_t size;
    std::span<const std::byte> bytes;
    byte_filler fill;
  };
  struct places {
    std::string before, after;  // the pairs: magic and counts; what tensors are there
    std::uint64_t data, end;    // where the data section begins and where the file ends
  };

  [[noreturn]] static void refuse(std::string what, std::string expected, std::string found) {
    fail({.what = std::move(what), .expected = std::move(expected), .found = std::move(found)});
  }
  STENO_ON_CALL static void check_length(std::string_view key, std::size_t n) {
    if (n > gguf_max_length)
      refuse("key " + quoted(key) + ": length", "up to " + std::to_string(gguf_max_length), std::to_string(n));
  }
  template <class T>
  static void put(std::string& out, T v) {
    out.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  template <class T>
  void put_number(T v) {
    if constexpr (std::is_same_v<T, bool>)
      put(start_, std::uint8_t{v});
    else
      put(start_, v);
  }
  // A vocabulary of a megabyte is not moved when the next key comes.
  void make_room(std::size_t bytes) { start_.reserve(start_.size() + bytes + 4096); }
  STENO_ON_CALL void put_string(std::string_view s) {
    put(start_, std::uint64_t{s.size()});
    start_ += s;
  }
  STENO_ON_CALL void begin_pair(std::string_view key, gguf_type type) {
    if (key.empty()) fail({.what = "a key is empty"});
    check_length(key, key.size());
    if (key == gguf_alignment_key && type != gguf_type::u32)
      refuse("key " + quoted(key), "a number of type u32", std::string(name_of(type)));
    if (!keys_.emplace(key).second) fail({.what = "key " + quoted(key) + " occurs twice"});
    count_pairs();
    put_string(key);
    put(start_, static_cast<std::int32_t>(type));
  }
  STENO_ON_CALL void begin_array(std::string_view key, gguf_type element, std::size_t count) {
    check_length(key, count);
    begin_pair(key, gguf_type::array);
    put(start_, static_cast<std::int32_t>(element));
    put(start_, std::uint64_t{count});
  }

  STENO_ON_CALL entry& add_entry(std::string_view name, dtype format, std::span<const extent> shape) {
    if (name.empty()) fail({.what = "a tensor name is empty"});
    if (name.size() > gguf_name_limit)
      refuse("tensor name " + quoted(name), "up to 63 bytes", std::to_string(name.size()));
    std::uint64_t size = 0;
    if (auto bad = detail::measure_tensor(shape, static_cast<std::int32_t>(format), size))
      refuse("tensor " + quoted(name) + ": " + bad->what, bad->expected, bad->found);
    if (!names_.emplace(name).second) fail({.what = "tensor name " + quoted(name) + " occurs twice"});
    tensors_.push_back({std::string(name), format, {shape.begin(), shape.end()}, size, {}, {}});
    return tensors_.back();
  }

  static constexpr std::size_t head_bytes = gguf_magic.size() + sizeof gguf_version + 2 * sizeof(std::int64_t);
  STENO_ON_CALL static std::string head(std::size_t tensors, std::size_t pairs) {
    std::string out(gguf_magic);
    put(out, gguf_version);
    put(out, static_cast<std::int64_t>(tensors));
    put(out, static_cast<std::int64_t>(pairs));
    return out;
  }
  void count_pairs() { start_.replace(0, head_bytes, head(0, keys_.size())); }
  std::string_view pairs() const { return std::string_view(start_).substr(head_bytes); }

  STENO_ON_CALL places layout() const {
    std::string before = head(tensors_.size(), keys_.size()), out;
    std::uint64_t data = 0;
    for (const entry& t : tensors_) {
      put(out, std::uint64_t{t.name.size()});
      out += t.name;
      put(out, static_cast<std::uint32_t>(t.shape.size()));
      for (std::size_t i = t.shape.size(); i-- > 0;) put(out, static_cast<std::int64_t>(t.shape[i]));
      put(out, static_cast<std::int32_t>(t.format));
      put(out, data);
      if (!detail::append_padded(data, t.size, alignment_)) refuse("end of the data", "below 2^64 bytes", "more");
    }
    std::uint64_t start = before.size() + pairs().size() + out.size(), end = 0;
    if ((!tensors_.empty() && !checked_round_up(start, alignment_, start)) || !checked_add(start, data, end) ||
        end > PTRDIFF_MAX)
      refuse("size of the file", "below 2^63 bytes", "more");
    return {std::move(before), std::move(out), start, end};
  }

  std::uint64_t padding_of(const entry& t) const noexcept {
    const std::uint64_t rest = t.size % alignment_;
    return rest == 0 ? 0 : alignment_ - rest;
  }
  template <class Sink>
  static void emit_zeros(Sink&& sink, std::uint64_t count) {
    const std::byte zeros[4096] = {};
    for (std::uint64_t n = 0; count > 0; count -= n) {
      n = std::min<std::uint64_t>(count, sizeof zeros);
      sink(std::span(zeros).first(static_cast<std::size_t>(n)));
    }
  }
  template <class Sink, class Progress>
  void emit(Sink&& sink, Progress&& progress) const {
    const places l = layout();
    std::uint64_t padding = l.data;
    for (const std::string_view part : {std::string_view(l.before), pairs(), std::string_view(l.after)}) {
      sink(std::as_bytes(std::span(part)));
      padding -= part.size();
    }
    emit_zeros(sink, padding);
    std::uint64_t done = l.data;
    progress(done, l.end);
    std::vector<std::byte> buffer;
    for (const entry& t : tensors_) {
      if (t.fill) {
        buffer.assign(static_cast<std::size_t>(t.size), std::byte{0});
        t.fill(std::span(buffer));
      }
      sink(t.fill ? std::span<const std::byte>(buffer) : t.bytes);
      emit_zeros(sink, padding_of(t));
      progress(done += t.size + padding_of(t), l.end);
    }
  }

  std::string start_ = head(0, 0);  // of a file without tensors: its head and the pairs
  std::uint32_t alignment_ = gguf_alignment;
  std::vector<entry> tensors_;
  std::set<std::string, std::less<>> keys_, names_;
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
