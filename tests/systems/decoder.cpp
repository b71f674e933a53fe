// Stands for ffmpeg: what follows "decoder:" in its input is the WAV file that it writes; other input is an error.
// SPDX-License-Identifier: Apache-2.0
#if defined(_WIN32)
#define NOMINMAX
#include <windows.h>
// after windows.h
#include <fcntl.h>
#include <io.h>
#include <shellapi.h>
#endif

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

std::FILE* open_input(const fs::path& from) {
  const fs::path::string_type name = from.native();
#if defined(_WIN32)
  for (std::FILE* f : {stdin, stdout}) ::_setmode(::_fileno(f), _O_BINARY);
  return name == L"pipe:0" ? stdin : ::_wfopen(name.substr(name.find(L':') + 1).c_str(), L"rb");
#else
  return name == "pipe:0" ? stdin : std::fopen(name.substr(name.find(':') + 1).c_str(), "rb");
#endif
}

int decode(const std::vector<fs::path>& arguments) {
  fs::path from;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    if (arguments[i - 1] == "-i") from = arguments[i];
  std::FILE* const input = open_input(from);
  for (int i = 0; i < 5000; ++i) std::fprintf(stderr, "[info] more than a pipe holds, before the first sample\n");
  std::string bytes(8, '\0');
  if (input == nullptr || std::fread(bytes.data(), 1, 8, input) != 8 || bytes != "decoder:") {
    std::fprintf(stderr, "[error] %s\n", input == nullptr ? "No such file" : "Invalid data found");
    return 1;
  }
  bytes.resize(4096);
  while (const std::size_t n = std::fread(bytes.data(), 1, bytes.size(), input))
    std::fwrite(bytes.data(), 1, n, stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
#if defined(_WIN32)
  (void)words;
  wchar_t** const all = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  return decode({all, all + count});
#else
  return decode({words, words + count});
#endif
}
