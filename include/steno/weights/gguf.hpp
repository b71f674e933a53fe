// steno/weights/gguf.hpp - reads a GGUF container (versions 2 and 3): a weight source over mapped or given bytes.
//
// The whole header is checked at construction, at least as strictly as gguf_init_from_file of ggml does: counts, string
// lengths, types, unique names, block-sized rows, offsets that are exactly the running sum of the padded sizes, and
// data that ends inside the file. Names and values stay in the file's memory. Tensors may be borrowed from other mapped
// files, of any kind: a converted model then needs memory for what was changed alone. Layout: gguf_format.hpp. Tested
// in tests/weights/gguf_test.cpp (golden and damaged files) and tests/fuzz/gguf_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/gguf_layout.hpp>
#include <steno/weights/gguf_value.hpp>
#include <steno/weights/mapped_file.hpp>
#include <steno/weights/name_index.hpp>
#include <steno/weights/source.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// A GGUF file; satisfies weight_source. Move-only. Const members may be called from any number of threads.
class gguf_file {
 public:
  /// Maps (or copies) and checks the file at `path`; throws steno::error.
  STENO_ON_CALL explicit gguf_file(std::string path, weights::file_reading how = weights::file_reading::mapped)
      : gguf_file(weights::mapped_file(std::move(path), how)) {}
  /// Checks a file that is there already, on disk or in memory alone; throws steno::error.
  STENO_ON_CALL explicit gguf_file(weights::mapped_file file)
      : file_(std::move(file)), name_(file_.path()), bytes_(file_.bytes()) {
    parse();
  }

  /// Checks `bytes` in memory, which must outlive this object; `name` stands in messages. Throws steno::error.
  STENO_ON_CALL gguf_file(std::string name, std::span<const std::byte> bytes) : name_(std::move(name)), bytes_(bytes) {
    parse();
  }
  /// A temporary's bytes would be gone with it: keep them.
  gguf_file(std::string name, std::vector<std::byte>&& bytes) = delete;

  gguf_file(gguf_file&&) noexcept = default;
  gguf_file& operator=(gguf_file&&) noexcept = default;

  const std::string& where() const noexcept { return name_; }           ///< path or name for messages
  std::span<const std::byte> bytes() const noexcept { return bytes_; }  ///< the whole file
  /// The mapping that they lie in; no file for bytes in memory. Whoever moves it away takes the bytes along.
  weights::mapped_file& mapping() noexcept { return file_; }
  std::uint32_t version() const noexcept { return version_; }  ///< of the container: 2 or 3
  /// Multiple of bytes at which tensors begin in the data section
  std::uint32_t alignment() const noexcept { return alignment_; }

  // --- tensors, in file order. Formats that steno cannot compute with are listed too: info(format).elements is 0,
  //     format_name(format) gives their name, bytes are right.
  std::size_t size() const noexcept { return tensors_.size(); }  ///< number of tensors
  weights::tensor_ref tensor(std::size_t i) const {
    return tensors_.at(i);
  }  ///< the i-th tensor; throws std::out_of_range
  /// The tensor of exactly this name; nothing when the file has none.
  STENO_ON_CALL STENO_COLD std::optional<weights::tensor_ref> find(std::string_view name) const {
    const weights::tensor_ref* t = tensor_index_.find(tensors_, name);
    return t != nullptr ? std::optional(*t) : std::nullopt;
  }
  /// Tensors whose bytes lie in another mapped file take part here; that file is kept open. Their names are copied.
  /// Throws steno::error for a name that is there already, and for bytes that are not the shape's or not that file's.
  STENO_ON_CALL STENO_COLD void borrow(weights::mapped_file from, std::span<const weights::tensor_ref> tensors) {
    std::vector<std::string> names;
    names.reserve(tensors.size());
    for (weights::tensor_ref t : tensors) {
      std::uint64_t size = 0;
      const auto shape = std::span(t.shape).first(static_cast<std::size_t>(t.rank));
      const auto bad = weights::detail::measure_tensor(shape, static_cast<std::int32_t>(t.format), size);
      if (bad || size != t.bytes.size() || !from.holds(t.bytes))
        fail({.where = from.path(),
              .what = "tensor " + weights::quoted(t.name) + ": bytes for " + t.shape_text() + " in this file",
              .expected = std::to_string(size),
              .found = std::to_string(t.bytes.size())});
      t.name = names.emplace_back(t.name);
      tensors_.push_back(t);
    }
    lenders_.push_back({std::move(from), std::move(names)});
    tensor_index_ = decltype(tensor_index_)(tensors_);
    if (const auto again = tensor_index_.duplicate(tensors_)) twice("tensor name", *again);
  }
  /// Whether a part of this is a copy, where released tensors are lost.
  bool copied() const noexcept {
    return file_.copied() ||
           std::any_of(lenders_.begin(), lenders_.end(), [](const lender& l) { return l.file.copied(); });
  }
  /// Gives the memory of a tensor that is not needed any more back to the system (nothing for bytes of the caller's).
  STENO_ON_CALL void release(const weights::tensor_ref& t) const noexcept {
    file_.release(t.bytes);
    for (const lender& l : lenders_) l.file.release(t.bytes);
  }
  /// The same of what reading loads again: of tensors in mapped files, not of those in copies.
  STENO_ON_CALL void release_mapped(const weights::tensor_ref& t) const noexcept {
    if (!file_.copied()) file_.release(t.bytes);
    for (const lender& l : lenders_)
      if (!l.file.copied()) l.file.release(t.bytes);
  }
  /// All mapped files.
  STENO_ON_CALL void release_mapped() const noexcept {
    if (!file_.copied()) file_.release(bytes_);
    for (const lender& l : lenders_)
      if (!l.file.copied()) l.file.release(l.file.bytes());
  }

  // --- key-value pairs, in file order.
  /// All pairs; they refer to the file's bytes.
  std::span<const weights::gguf_value> values() const noexcept { return values_; }
  /// The keys of all pairs; they refer to the file's bytes.
  STENO_ON_CALL std::vector<std::string_view> keys() const {
    std::vector<std::string_view> result;
    result.reserve(values_.size());
    for (const weights::gguf_value& v : values_) result.push_back(v.key);
    return result;
  }
  /// The pair with exactly this key, or null. Valid as long as the file is.
  const weights::gguf_value* value(std::string_view key) const { return value_index_.find(values_, key); }
  bool has(std::string_view key) const { return value(key) != nullptr; }  ///< whether the key is there

  /// A number (bool: 0 or 1); nothing when the key is absent. Throws when the value is not a number.
  STENO_COLD std::optional<double> number(std::string_view key) const {
    return optional_as(key, &weights::gguf_value::number, "a number");
  }
  /// A string; nothing when the key is absent. Throws when the value is not a string.
  STENO_COLD std::optional<std::string> text(std::string_view key) const {
    const auto t = optional_as(key, &weights::gguf_value::text, "a string");
    return t ? std::optional<std::string>(*t) : std::nullopt;
  }
  /// An array of numbers; throws when the key is absent or holds something else.
  STENO_COLD std::vector<double> numbers(std::string_view key) const {
    return required_as(key, &weights::gguf_value::numbers, "an array of numbers");
  }
  /// An array of strings; throws when the key is absent or holds something else.
  STENO_COLD std::vector<std::string> strings(std::string_view key) const { return string_views(key).copy(); }
  /// The same, not copied; valid as long as the file is.
  STENO_COLD weights::stored_strings string_views(std::string_view key) const {
    return required_as(key, &weights::gguf_value::string_views, "an array of strings");
  }

 private:
  STENO_ON_CALL STENO_COLD void parse() {
    weights::byte_cursor c(name_, bytes_);
    const auto magic = c.take(std::min(weights::gguf_magic.size(), c.remaining()), "magic");
    if (std::string_view(reinterpret_cast<const char*>(magic.data()), magic.size()) != weights::gguf_magic)
      fail({.where = name_, .what = "not a GGUF file", .expected = "the bytes \"GGUF\" at its start"});
    version_ = c.number<std::uint32_t>("version");
    if ((version_ & 0xffffu) == 0 && version_ != 0)
      fail({.where = name_, .what = "the GGUF file has big-endian byte order, which steno does not read"});
    if (version_ < 2 || version_ > weights::gguf_version)
      fail({.where = name_, .what = "GGUF version", .expected = "2 or 3", .found = std::to_string(version_)});
    const auto tensors = c.number<std::int64_t>("number of tensors");
    const auto pairs = c.number<std::int64_t>("number of keys");
    check_count(c, tensors, 8 + 4 + 4 + 8, "number of tensors");
    check_count(c, pairs, 8 + 1 + 4 + 1, "number of keys");

    for (std::int64_t i = 0; i < pairs; ++i) values_.push_back(read_value(c));
    value_index_ = decltype(value_index_)(values_);
    if (const auto again = value_index_.duplicate(values_)) twice("key", *again);
    read_alignment();
    for (std::int64_t i = 0; i < tensors; ++i) read_tensor(c);
    tensor_index_ = decltype(tensor_index_)(tensors_);
    if (const auto again = tensor_index_.duplicate(tensors_)) twice("tensor name", *again);
    place_tensors(c);
  }

  // Before anything is stored: `count` things of at least `smallest` bytes must fit into the rest of the file.
  STENO_COLD void check_count(weights::byte_cursor& c, std::int64_t count, std::uint64_t smallest,
                              const char* what) const {
    const std::uint64_t max_count = c.remaining() / smallest;
    if (count < 0 || static_cast<std::uint64_t>(count) > max_count)
      fail({.where = name_,
            .what = what,
            .expected = "0 to " + std::to_string(max_count) + " in a file of this size",
            .found = std::to_string(count)});
  }

  STENO_ON_CALL static weights::gguf_type read_type(weights::byte_cursor& c, std::string_view key) {
    const auto id = c.number<std::int32_t>("value type");
    if (!weights::is_gguf_type(id))
      c.stop("key " + weights::quoted(key) + ": type of the value", "0 to 12", std::to_string(id));
    return static_cast<weights::gguf_type>(id);
  }
  STENO_ON_CALL STENO_COLD static weights::gguf_value read_value(weights::byte_cursor& c) {
    weights::gguf_value v;
    v.key = c.string(weights::gguf_max_length, "key");
    if (v.key.empty()) c.stop("a key is empty");
    v.type = v.element = read_type(c, v.key);
    if (v.type == weights::gguf_type::string) {
      const std::string_view s = c.string(weights::gguf_max_length, "string value");
      v.raw = std::as_bytes(std::span(s.data(), s.size()));
    } else if (v.type == weights::gguf_type::array) {
      read_array(c, v);
    } else {
      v.raw = c.take(weights::size_of_type(v.type), "value");
    }
    return v;
  }
  STENO_ON_CALL STENO_COLD static void read_array(weights::byte_cursor& c, weights::gguf_value& v) {
    v.element = read_type(c, v.key);
    if (v.element == weights::gguf_type::array)
      c.stop("key " + weights::quoted(v.key) + ": arrays of arrays are not allowed");
    const auto count = c.number<std::uint64_t>("array length");
    const std::uint64_t each = v.element == weights::gguf_type::string ? 8 : weights::size_of_type(v.element);
    const std::uint64_t max_count = std::min<std::uint64_t>(weights::gguf_max_length, c.remaining() / each);
    if (count > max_count)
      c.stop("key " + weights::quoted(v.key) + ": length of the array", "up to " + std::to_string(max_count),
             std::to_string(count));
    v.count = static_cast<std::size_t>(count);
    const std::size_t start = c.position();
    weights::byte_cursor walk = c;
    if (v.element == weights::gguf_type::string) {
      for (std::size_t i = 0; i < v.count; ++i) walk.string(weights::gguf_max_length, "string in an array");
    } else {
      walk.take(each * count, "array");
    }
    v.raw = c.take(walk.position() - start, "array");
  }

  STENO_ON_CALL STENO_COLD void read_alignment() {
    const weights::gguf_value* v = value(weights::gguf_alignment_key);
    if (v == nullptr) return;
    const auto a = v->get<std::uint32_t>();
    if (!a) wrong_type(*v, "u32");
    if (!weights::is_power_of_two(*a))
      fail({.where = name_,
            .what = "key " + weights::quoted(weights::gguf_alignment_key),
            .expected = "a power of two",
            .found = std::to_string(*a)});
    alignment_ = *a;
  }

  STENO_ON_CALL STENO_COLD void read_tensor(weights::byte_cursor& c) {
    weights::tensor_ref t;
    t.name = c.string(weights::gguf_max_length, "tensor name");
    if (t.name.empty()) c.stop("a tensor name is empty");
    if (t.name.size() > weights::gguf_name_limit)
      c.stop("tensor name " + weights::quoted(t.name), "up to 63 bytes", std::to_string(t.name.size()));
    const auto stop = [&](const weights::detail::layout_fault& bad) {
      c.stop("tensor " + weights::quoted(t.name) + ": " + bad.what, bad.expected, bad.found);
    };
    const auto rank = c.number<std::uint32_t>("number of dimensions");
    if (rank > weights::gguf_rank_limit) stop({"number of dimensions", "up to 4", std::to_string(rank)});
    t.rank = static_cast<int>(rank);
    for (std::uint32_t i = rank; i-- > 0;) {
      const auto dimension = c.number<std::int64_t>("dimension");
      if (!std::in_range<extent>(dimension))  // of 32 bits in WebAssembly
        stop({"dimension", "up to " + std::to_string(std::numeric_limits<extent>::max()), std::to_string(dimension)});
      t.shape[i] = static_cast<extent>(dimension);
    }
    const auto type = c.number<std::int32_t>("tensor type");
    std::uint64_t size = 0;
    if (const auto bad = weights::detail::measure_tensor(std::span(t.shape).first(rank), type, size)) stop(*bad);
    t.format = static_cast<dtype>(type);
    const auto offset = c.number<std::uint64_t>("tensor offset");
    if (offset != data_size_) stop({"offset in the data section", std::to_string(data_size_), std::to_string(offset)});
    if (!weights::detail::append_padded(data_size_, size, alignment_))
      stop({"end of the data", "below 2^64 bytes", "more"});
    placed_.push_back({offset, size});
    tensors_.push_back(t);
  }

  // The data section begins at the next multiple of the alignment and holds all tensors with their padding.
  STENO_COLD void place_tensors(const weights::byte_cursor& c) {
    std::uint64_t start = 0, end = 0;
    if (tensors_.empty()) return;
    if (!weights::checked_round_up(c.position(), alignment_, start) || !weights::checked_add(start, data_size_, end) ||
        end > bytes_.size())
      fail({.where = name_,
            .what = "the data of the tensors runs beyond the end of the file",
            .expected = std::to_string(data_size_) + " bytes of data after " + std::to_string(c.position()) +
                        " bytes of header, aligned to " + std::to_string(alignment_),
            .found = "a file of " + std::to_string(bytes_.size()) + " bytes",
            .hint = "the file may have been cut while it was copied"});
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      tensors_[i].bytes = bytes_.subspan(static_cast<std::size_t>(start + placed_[i].offset),
                                         static_cast<std::size_t>(placed_[i].size));
    placed_ = {};
  }

  STENO_ON_CALL [[noreturn]] STENO_COLD void twice(const char* what, std::string_view name) const {
    fail({.where = name_, .what = what + (" " + weights::quoted(name)) + " occurs twice"});
  }
  [[noreturn]] STENO_COLD void wrong_type(const weights::gguf_value& v, std::string expected) const {
    fail({.where = name_,
          .what = "key " + weights::quoted(v.key),
          .expected = std::move(expected),
          .found = v.type_text()});
  }
  template <class T>
  STENO_COLD std::optional<T> optional_as(std::string_view key, std::optional<T> (weights::gguf_value::*get)() const,
                                          const char* wanted) const {
    const weights::gguf_value* v = value(key);
    if (v == nullptr) return std::nullopt;
    std::optional<T> result = (v->*get)();
    if (!result) wrong_type(*v, wanted);
    return result;
  }
  template <class T>
  STENO_COLD T required_as(std::string_view key, std::optional<T> (weights::gguf_value::*get)() const,
                           const char* wanted) const {
    auto result = optional_as(key, get, wanted);
    if (!result) fail({.where = name_, .what = "key " + weights::quoted(key) + " is missing", .expected = wanted});
    return std::move(*result);
  }

  struct place {
    std::uint64_t offset, size;
  };
  struct lender {
    weights::mapped_file file;
    std::vector<std::string> names;  // of its tensors
  };
  weights::mapped_file file_;
  std::string name_;
  std::span<const std::byte> bytes_;
  std::uint32_t version_ = 0, alignment_ = weights::gguf_alignment;
  std::vector<weights::gguf_value> values_;
  std::vector<weights::tensor_ref> tensors_;
  weights::name_index<weights::gguf_value, &weights::gguf_value::key> value_index_;
  weights::name_index<weights::tensor_ref, &weights::tensor_ref::name> tensor_index_;
  std::vector<lender> lenders_;
  std::vector<place> placed_;  // until the start of the data section is known
  std::uint64_t data_size_ = 0;
};

static_assert(weights::weight_source<gguf_file>);

}  // namespace STENO_ABI
}  // namespace steno
