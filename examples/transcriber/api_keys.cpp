// SPDX-License-Identifier: Apache-2.0
#include "api_keys.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace steno::app {

api_keys::padded api_keys::pad(std::string_view key) {
  padded p{};
  std::copy_n(key.begin(), std::min(key.size(), longest), p.begin());
  p[longest] = static_cast<unsigned char>(key.size() & 0xff);
  p[longest + 1] = static_cast<unsigned char>(std::min<std::size_t>(key.size() >> 8, 0xff));
  return p;
}

api_keys api_keys::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail({.where = path, .what = std::strerror(errno)});
  api_keys all;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    if (line.size() < 8 || line.size() > longest || number > 100000 ||
        !std::all_of(line.begin(), line.end(), [](char c) { return c > ' ' && c < 0x7f; }))
      fail({.where = path,
            .what = "line " + std::to_string(number),
            .expected = "a key of 8 to 256 printable characters of ASCII without spaces"});
    all.keys_.push_back(pad(line));
  }
  if (in.bad()) fail({.where = path, .what = "cannot read it"});
  if (all.keys_.empty()) fail({.where = path, .what = "holds no keys"});
  return all;
}

bool api_keys::allows(std::string_view authorization) const {
  constexpr std::string_view scheme = "bearer ";
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (authorization.size() < scheme.size() ||
      !std::equal(scheme.begin(), scheme.end(), authorization.begin(), [&](char a, char b) { return a == small(b); }))
    return false;
  return holds(authorization.substr(scheme.size()));
}

bool api_keys::holds(std::string_view wanted) const {
  const padded given = pad(wanted);
  unsigned found = 0;
  for (const padded& key : keys_) {  // all of all of them: how far one is right does not show
    unsigned differs = 0;
    for (std::size_t i = 0; i < key.size(); ++i) differs |= static_cast<unsigned>(key[i] ^ given[i]);
    found |= static_cast<unsigned>(differs == 0);
  }
  return found != 0;
}

}  // namespace steno::app
