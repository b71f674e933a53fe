// tools/convert/torch/checkpoint.cpp - see checkpoint.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "torch/checkpoint.hpp"

#include <steno/core/half.hpp>
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace torch {

namespace {

template <class T>
T load_element(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

float as_float(scalar type, const std::byte* p) {
  switch (type) {
    case scalar::f32:
      return load_element<float>(p);
    case scalar::f16:
      return core::half_to_float(load_element<std::uint16_t>(p));
    case scalar::bf16:
      return core::bfloat_to_float(load_element<std::uint16_t>(p));
    case scalar::f64:
      return static_cast<float>(load_element<double>(p));
    case scalar::i64:
      return static_cast<float>(load_element<std::int64_t>(p));
    case scalar::i32:
      return static_cast<float>(load_element<std::int32_t>(p));
    case scalar::i16:
      return static_cast<float>(load_element<std::int16_t>(p));
    case scalar::i8:
      return static_cast<float>(load_element<std::int8_t>(p));
    case scalar::u8:
      return static_cast<float>(load_element<std::uint8_t>(p));
    case scalar::boolean:
      return load_element<std::uint8_t>(p) != 0 ? 1.0f : 0.0f;
  }
  return 0;
}

bool contiguous(const tensor& t) {
  std::uint64_t step = 1;
  for (std::size_t i = t.shape.size(); i > 0; --i) {
    if (t.shape[i - 1] != 1 && t.stride[i - 1] != step) return false;
    step *= t.shape[i - 1];
  }
  return true;
}

}  // namespace

checkpoint::checkpoint(const std::filesystem::path& path)
    : file_(path.string()),
      bytes_(file_.bytes()),
      where_(path.string()),
      size_(bytes_.size()),
      archive_(bytes_, where_) {
  list();
}
checkpoint::checkpoint(std::span<const std::byte> bytes, std::string where, weights::mapped_file* part_of)
    : part_of_(part_of), bytes_(bytes), where_(std::move(where)), size_(bytes.size()), archive_(bytes, where_) {
  list();
}

void checkpoint::list() {
  using kind = pickle::kind;
  const pickle& object = archive_.object();
  const auto holds_tensors = [&](const pickle::node& v) {
    if (v.what != kind::dict) return false;
    for (std::size_t i = 1; i < v.items.size(); i += 2)
      if (object.at(v.items[i]).what == kind::tensor) return true;
    return false;
  };
  for (const char* nested : {"state_dict", "model_state_dict", "model"})
    if (const pickle::node* v = object.find(object.root(), nested); v != nullptr && holds_tensors(*v)) {
      list_dict(*v);
      return;
    }
  if (!holds_tensors(object.root()))
    fail({.where = where_,
          .what = "holds no state dict",
          .expected = "tensors by name, at the top or under state_dict, model_state_dict or model"});
  list_dict(object.root());
}

void checkpoint::list_dict(const pickle::node& dict) {
  using kind = pickle::kind;
  const pickle& object = archive_.object();
  constexpr std::string_view prefix = "module.";
  bool prefixed = true;
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const pickle::node &key = object.at(dict.items[i]), &v = object.at(dict.items[i + 1]);
    if (key.what != kind::text || v.what != kind::tensor) continue;
    const auto number = static_cast<std::uint32_t>(v.number);
    const tensor& t = object.tensors()[number];
    const scalar type = object.storages()[t.storage].type;
    // A view with a stride of 0 may claim any size; what a checkpoint holds is not larger than the checkpoint.
    if (t.count > size_ / size_of_scalar(type))
      fail({.where = where_,
            .what = "tensor " + steno::weights::quoted(key.text) + " claims to be larger than the file"});
    entry e;
    e.name = std::string(key.text);
    e.type = type;
    e.shape = t.shape;
    e.count = t.count;
    e.tensor = number;
    prefixed = prefixed && key.text.starts_with(prefix);
    const auto [place, fresh] = places.emplace(key.text, entries_.size());
    if (fresh)
      entries_.push_back(std::move(e));
    else
      entries_[place->second] = std::move(e);  // as in Python, the last value of a key counts
  }
  if (prefixed)
    for (entry& e : entries_) e.name.erase(0, prefix.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i].name, i);
}

const checkpoint::entry* checkpoint::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

std::optional<std::int64_t> checkpoint::integer(std::string_view dict, std::string_view key) const {
  const pickle& object = archive_.object();
  const pickle::node* const d = object.find(object.root(), dict);
  const pickle::node* const v = d != nullptr && d->what == pickle::kind::dict ? object.find(*d, key) : nullptr;
  if (v == nullptr || v->what != pickle::kind::integer) return std::nullopt;
  return v->number;
}

std::vector<std::string> checkpoint::keys(std::string_view dict) const {
  const pickle& object = archive_.object();
  const pickle::node* const d = dict.empty() ? &object.root() : object.find(object.root(), dict);
  std::vector<std::string> all;
  if (d == nullptr || d->what != pickle::kind::dict) return all;
  for (std::size_t i = 0; i + 1 < d->items.size(); i += 2)
    if (const pickle::node& key = object.at(d->items[i]); key.what == pickle::kind::text) all.emplace_back(key.text);
  return all;
}

// Calls take(elements, count) for runs of elements, in row-major order.
template <class F>
void checkpoint::gather(const entry& e, F&& take) {
  const tensor& t = archive_.object().tensors()[e.tensor];
  const storage& s = archive_.object().storages()[t.storage];
  const std::size_t width = size_of_scalar(s.type);
  if (t.count == 0) return;
  // Most tensors are all of their storage: it passes by, and is never held beside the values.
  if (contiguous(t) && s.first == 0 && t.offset == 0 && t.count == s.count &&
      t.count * width == archive_.size_of_record(s))
    return archive_.pass_record(s, [&](std::span<const std::byte> piece) {
      take(piece.data(), piece.size() / width);
      release();
    });
  const std::byte* start = archive_.record(s).data() + (s.first + t.offset) * width;
  // What was read is not needed again: its pages go back to the system, so a model is never resident beside its copy.
  const struct release_pages {
    const checkpoint& c;
    ~release_pages() { c.release(); }
  } at_the_end{*this};
  if (contiguous(t)) {
    take(start, static_cast<std::size_t>(t.count));
    return;
  }
  std::vector<std::uint64_t> at(t.shape.size());
  std::uint64_t place = 0;
  for (std::uint64_t n = 0; n < t.count; ++n) {
    take(start + place * width, 1);
    for (std::size_t i = t.shape.size(); i > 0; --i) {
      place += t.stride[i - 1];
      if (++at[i - 1] < t.shape[i - 1]) break;
      place -= t.shape[i - 1] * t.stride[i - 1];
      at[i - 1] = 0;
    }
  }
}

void checkpoint::read(const entry& e, std::span<float> out) {
  float* to = out.data();
  const std::size_t width = size_of_scalar(e.type);
  gather(e, [&](const std::byte* from, std::size_t count) {
    if (e.type == scalar::f32)
      std::memcpy(to, from, count * sizeof(float));
    else
      for (std::size_t i = 0; i < count; ++i) to[i] = as_float(e.type, from + i * width);
    to += count;
  });
}

void checkpoint::read_bytes(const entry& e, std::span<std::byte> out) {
  std::byte* to = out.data();
  const std::size_t width = size_of_scalar(e.type);
  gather(e, [&](const std::byte* from, std::size_t count) {
    std::memcpy(to, from, count * width);
    to += count * width;
  });
}

std::span<const std::byte> checkpoint::show(const entry& e) {
  const tensor& t = archive_.object().tensors()[e.tensor];
  const storage& s = archive_.object().storages()[t.storage];
  if (!contiguous(t)) return {};
  const std::span<const std::byte> all = archive_.stored_record(s);
  mapping().release(all);  // the checksum has brought all of it
  const std::size_t width = size_of_scalar(s.type);
  std::uint64_t first = 0, end = 0, bytes = 0;
  if (__builtin_add_overflow(s.first, t.offset, &first) || __builtin_add_overflow(first, t.count, &end) ||
      __builtin_mul_overflow(end, width, &bytes) || bytes > all.size())
    return {};
  const auto part = all.subspan(static_cast<std::size_t>(first) * width, static_cast<std::size_t>(t.count) * width);
  const bool aligned = reinterpret_cast<std::uintptr_t>(part.data()) % width == 0;  // torch does so since 1.6
  return aligned ? part : std::span<const std::byte>();
}

weights::mapped_file* checkpoint::file() noexcept {
  weights::mapped_file& whole = part_of_ != nullptr ? *part_of_ : file_;
  return whole.holds(bytes_) ? &whole : nullptr;
}

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno
