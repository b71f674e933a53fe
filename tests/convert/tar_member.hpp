// A member of a tar archive as text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace steno::test {

inline std::string octal(std::size_t n, int digits) {
  std::string s(static_cast<std::size_t>(digits), '0');
  for (std::size_t i = s.size(); n != 0 && i-- > 0; n /= 8) s[i] = static_cast<char>('0' + n % 8);
  return s;
}
inline std::string member(const std::string& name, const std::string& content, char type = '0') {
  std::string h(512, '\0');
  h.replace(0, name.size(), name);
  h.replace(124, 11, octal(content.size(), 11));
  h[156] = type;
  h.replace(257, 5, "ustar");
  h.replace(148, 8, 8, ' ');
  std::size_t sum = 0;
  for (const char c : h) sum += static_cast<unsigned char>(c);
  h.replace(148, 6, octal(sum, 6));
  h[154] = '\0';
  h += content;
  h.resize((h.size() + 511) / 512 * 512, '\0');
  return h;
}

}  // namespace steno::test
