// tools/convert/command_line.cpp - see command_line.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#if defined(_WIN32)
// As <windows.h> and <shellapi.h> declare them, whose macros would reach all that is compiled with this file.
extern "C" {
__declspec(dllimport) wchar_t* __stdcall GetCommandLineW();
__declspec(dllimport) wchar_t** __stdcall CommandLineToArgvW(const wchar_t*, int*);
__declspec(dllimport) void* __stdcall LocalFree(void*);
}
#endif

namespace steno {
inline namespace STENO_ABI {

#if defined(_WIN32)
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> all;
  int count = 0;
  wchar_t** const words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  if (words == nullptr) return {argv, argv + argc};
  for (int i = 0; i < count; ++i) all.push_back(std::filesystem::path(words[i]).string());  // its encoding is UTF-8
  ::LocalFree(words);
  return all;
}

std::optional<std::string> environment(const char* name) {
  const std::string letters = name;
  const wchar_t* const text = ::_wgetenv(std::wstring(letters.begin(), letters.end()).c_str());
  if (text == nullptr) return std::nullopt;
  return std::filesystem::path(text).string();
}
#else
std::vector<std::string> arguments_of(int argc, char** argv) { return {argv, argv + argc}; }

std::optional<std::string> environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}
#endif

}  // namespace STENO_ABI
}  // namespace steno
