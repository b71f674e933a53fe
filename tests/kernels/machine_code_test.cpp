// The inner loops of the product tiles keep everything in registers: the disassembly of this very program shows no
// vector that goes to or comes from the stack. (An array of accumulators that is spilled costs two thirds of the speed,
// silently; whether it is depends on the compiler.)
#include <steno/kernels/product.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {
using namespace steno;

struct instruction {
  std::uint64_t at;
  std::string text;
};
struct listed_function {
  std::string name;
  std::vector<instruction> code;
};

/// The tiles of this program: functions whose (mangled) name says kernels, product and _tile.
[[maybe_unused]] std::vector<listed_function> tiles() {
  std::vector<listed_function> all;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(
      ::popen("objdump -d --no-show-raw-insn --section=.text /proc/$PPID/exe 2>/dev/null", "r"), ::pclose);
  if (!from) return all;
  bool inside = false;
  for (char line[4096]; std::fgets(line, sizeof line, from.get()) != nullptr;) {
    std::string text(line);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    if (text.ends_with(">:")) {
      const std::string name = text.substr(text.find('<') + 1);
      inside = name.find("7product") != std::string::npos && name.find("_tileI") != std::string::npos;
      if (inside) all.push_back({name, {}});
    } else if (const auto tab = text.find(":\t"); inside && tab != std::string::npos) {
      all.back().code.push_back({std::stoull(text, nullptr, 16), text.substr(tab + 2)});
    }
  }
  return all;
}

/// First and last address of the innermost loops (ends of a conditional jump backwards) that multiply and add.
[[maybe_unused]] std::vector<std::pair<std::uint64_t, std::uint64_t>> inner_loops(const listed_function& f) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> loops, inner;
  for (const instruction& i : f.code) {
    if (i.text[0] != 'j' || i.text.starts_with("jmp")) continue;
    const std::uint64_t target = std::stoull(i.text.substr(i.text.find_first_of("0123456789abcdef", 4)), nullptr, 16);
    if (target >= f.code.front().at && target <= i.at) loops.emplace_back(target, i.at);
  }
  for (const auto& l : loops) {
    bool innermost = true, multiplies = false;
    for (const auto& k : loops) innermost = innermost && (k == l || k.first < l.first || k.second > l.second);
    for (const instruction& i : f.code)
      if (i.at >= l.first && i.at <= l.second)
        multiplies = multiplies || i.text.starts_with("vfmadd") || i.text.starts_with("vpdpbusd") ||
                     i.text.starts_with("vpmaddubsw");
    if (innermost && multiplies) inner.push_back(l);
  }
  return inner;
}

TEST(machine_code, tiles_keep_their_vectors_in_registers) {
#if !defined(__x86_64__) || !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__clang__)
  GTEST_SKIP() << "for optimised x86-64 builds with g++";
#else
  if (std::system("objdump --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs objdump";
  std::size_t int8_loops = 0, panel_loops = 0, dot_loops = 0;
  for (const listed_function& f : tiles()) {
    const auto loops = inner_loops(f);
    (f.name.find("int8_tile") != std::string::npos    ? int8_loops
     : f.name.find("panel_tile") != std::string::npos ? panel_loops
                                                      : dot_loops) += loops.size();
    bool frame = false;  // rbp points to the frame, and is no other register
    for (const instruction& i : f.code) frame = frame || i.text.find("%rsp,%rbp") != std::string::npos;
    for (const instruction& i : f.code) {
      const bool stack =
          i.text.find("(%rsp") != std::string::npos || (frame && i.text.find("(%rbp") != std::string::npos);
      if (!stack || i.text.find("mm") == std::string::npos) continue;
      for (const auto& l : loops) EXPECT_FALSE(i.at >= l.first && i.at <= l.second) << f.name << "\n" << i.text;
    }
  }
  // Every height of every instruction set: AVX2 has 4 int8 tiles, VNNI 6.
  EXPECT_GE(int8_loops, 10u);
  EXPECT_GE(panel_loops, 8u);
  EXPECT_GE(dot_loops, 4u);
#endif
}
}  // namespace
