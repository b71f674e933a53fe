// A GGUF file taken apart into pieces that may be given any value, sensible or not, and put together again. The reader
// and the writer of the library refuse what is wrong; here nothing is refused. Tested by what damage-run does with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <steno/weights/gguf.hpp>

namespace steno::damage {

/// A key: `type` is any id, `value` whatever bytes follow it in the file.
struct key_part {
  std::string name;
  std::int32_t type = 0;
  std::string value;
};

/// A tensor: its offset is the running sum unless it is given.
struct tensor_part {
  std::string name;
  std::vector<std::uint64_t> dims;  ///< as in the file: innermost first
  std::int32_t type = 0;
  std::string data;
  std::optional<std::uint64_t> offset = std::nullopt;

  bool operator==(const tensor_part&) const = default;
};

template <class T>
std::string bytes_of(T v) {
  std::string s(sizeof v, '\0');
  std::memcpy(s.data(), &v, sizeof v);
  return s;
}
inline std::string sized(std::string_view s) { return bytes_of(std::uint64_t{s.size()}) + std::string(s); }

/// A whole file in pieces.
struct gguf_parts {
  std::vector<key_part> keys;
  std::vector<tensor_part> tensors;
  std::uint64_t alignment = 32;

  gguf_parts() = default;
  explicit gguf_parts(const std::string& path) {
    const gguf_file file(path);
    alignment = file.alignment();
    for (const weights::gguf_value& v : file.values()) {
      std::string value;
      if (v.is_array()) value = bytes_of(static_cast<std::int32_t>(v.element)) + bytes_of(std::uint64_t{v.count});
      if (v.type == weights::gguf_type::string) value = bytes_of(std::uint64_t{v.raw.size()});
      value.append(reinterpret_cast<const char*>(v.raw.data()), v.raw.size());
      keys.push_back({std::string(v.key), static_cast<std::int32_t>(v.type), std::move(value)});
    }
    for (std::size_t i = 0; i < file.size(); ++i) {
      const weights::tensor_ref t = file.tensor(i);
      tensor_part part{std::string(t.name), {}, static_cast<std::int32_t>(t.format), {}};
      for (int d = t.rank; d-- > 0;) part.dims.push_back(static_cast<std::uint64_t>(t.shape[static_cast<unsigned>(d)]));
      part.data.assign(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
      tensors.push_back(std::move(part));
    }
  }

  /// Magic to the last tensor's description, without the padding behind it.
  std::string header() const {
    std::string out = "GGUF" + bytes_of(std::uint32_t{3}) + bytes_of(std::uint64_t{tensors.size()}) +
                      bytes_of(std::uint64_t{keys.size()});
    for (const key_part& k : keys) out += sized(k.name) + bytes_of(k.type) + k.value;
    std::uint64_t offset = 0;
    for (const tensor_part& t : tensors) {
      out += sized(t.name) + bytes_of(static_cast<std::uint32_t>(t.dims.size()));
      for (const std::uint64_t d : t.dims) out += bytes_of(d);
      out += bytes_of(t.type) + bytes_of(t.offset.value_or(offset));
      offset += padded(t.data.size());
    }
    return out;
  }
  /// The whole file.
  std::string bytes() const {
    std::string out = header();
    out.resize(padded(out.size()), '\0');
    for (const tensor_part& t : tensors) {
      out += t.data;
      out.resize(out.size() + padded(t.data.size()) - t.data.size(), '\0');
    }
    return out;
  }

  const key_part* find_key(std::string_view name) const {
    for (const key_part& k : keys)
      if (k.name == name) return &k;
    return nullptr;
  }
  key_part& key(std::string_view name) { return named(keys, name); }
  tensor_part& tensor(std::string_view name) { return named(tensors, name); }
  std::string architecture() const {
    const key_part* k = find_key("general.architecture");
    return k != nullptr && k->value.size() > 8 ? k->value.substr(8) : "";
  }

 private:
  std::size_t padded(std::uint64_t n) const {
    return static_cast<std::size_t>((n + alignment - 1) / alignment * alignment);
  }
  template <class Part>
  static Part& named(std::vector<Part>& parts, std::string_view name) {
    for (Part& p : parts)
      if (p.name == name) return p;
    throw std::runtime_error("no part named " + std::string(name));
  }
};

}  // namespace steno::damage
