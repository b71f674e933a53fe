// tools/npy.hpp - reads and writes NumPy .npy files (version 1, little endian, C order): f4, f8, i4, i8, u1, i1.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace npy {

struct array {
  std::vector<std::int64_t> shape;
  std::string type;         // "<f4", "|u1", ...
  std::vector<char> bytes;  // C order

  std::int64_t size() const {
    std::int64_t n = 1;
    for (auto s : shape) n *= s;
    return n;
  }
  std::int64_t rows() const { return shape.size() < 2 ? 1 : shape[0]; }
  std::int64_t cols() const { return rows() == 0 ? 0 : size() / rows(); }
  /// All values as float (f4, f8, i4, i8).
  std::vector<float> floats() const {
    std::vector<float> out(static_cast<std::size_t>(size()));
    const auto copy = [&](auto sample) {
      using T = decltype(sample);
      for (std::size_t i = 0; i < out.size(); ++i) {
        T v;
        std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
        out[i] = static_cast<float>(v);
      }
    };
    if (type == "<f4") copy(float{});
    else if (type == "<f8") copy(double{});
    else if (type == "<i4") copy(std::int32_t{});
    else if (type == "<i8") copy(std::int64_t{});
    else throw std::runtime_error("npy: cannot read values of type " + type);
    return out;
  }
};

inline array load(const std::filesystem::path& path) {
  const auto bad = [&](const char* why) { return std::runtime_error(path.string() + ": " + why); };
  std::ifstream in(path, std::ios::binary);
  std::vector<char> all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (all.size() < 10 || std::memcmp(all.data(), "\x93NUMPY", 6) != 0) throw bad("not a .npy file");
  const bool wide = all[6] >= 2;
  std::uint32_t header = 0;
  std::memcpy(&header, all.data() + 8, wide ? 4 : 2);
  const std::size_t start = (wide ? 12u : 10u) + header;
  if (start > all.size()) throw bad("header is cut short");
  const std::string h(all.data() + (wide ? 12 : 10), header);
  array a;
  const auto d = h.find("'descr': '"), s = h.find("'shape': (");
  if (d == std::string::npos || s == std::string::npos || h.find("'fortran_order': False") == std::string::npos)
    throw bad("unexpected .npy header");
  a.type = h.substr(d + 10, h.find('\'', d + 10) - d - 10);
  for (std::size_t i = s + 10; i < h.size() && h[i] != ')';) {
    if (h[i] >= '0' && h[i] <= '9') {
      std::size_t used = 0;
      a.shape.push_back(std::stoll(h.substr(i), &used));
      i += used;
    } else {
      ++i;
    }
  }
  const std::size_t width = static_cast<std::size_t>(a.type.back() - '0');
  if (all.size() - start < static_cast<std::size_t>(a.size()) * width) throw bad("data is cut short");
  a.bytes.assign(all.begin() + static_cast<std::ptrdiff_t>(start),
                 all.begin() + static_cast<std::ptrdiff_t>(start + static_cast<std::size_t>(a.size()) * width));
  return a;
}

/// Writes float values, C order.
inline void save(const std::filesystem::path& path, const float* data, const std::vector<std::int64_t>& shape) {
  std::string dims;
  std::size_t n = 1;
  for (auto s : shape) {
    dims += std::to_string(s) + ", ";
    n *= static_cast<std::size_t>(s);
  }
  if (shape.size() > 1) dims.resize(dims.size() - 2);
  else if (!dims.empty()) dims.resize(dims.size() - 1);
  std::string h = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + dims + "), }";
  h.append(63 - (10 + h.size()) % 64, ' ');
  h += '\n';
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  const auto length = static_cast<std::uint16_t>(h.size());
  out.write(reinterpret_cast<const char*>(&length), 2);
  out.write(h.data(), static_cast<std::streamsize>(h.size()));
  out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(n * sizeof(float)));
  out.flush();
  if (!out) throw std::runtime_error(path.string() + ": cannot write");
}

}  // namespace npy
