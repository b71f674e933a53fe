// The inner loops of the product tiles keep everything in registers: the disassembly of this very program, and of an
// object for AArch64 (tests/aarch64), shows no vector that goes to or comes from the stack. (An array of accumulators
// that is spilled costs two thirds of the speed, silently; whether it is depends on the compiler.)
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/product.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace machine_code_test {

using namespace steno;

struct instruction {
  std::uint64_t at;
  std::string text;
};
struct listed_function {
  std::string name;
  std::vector<instruction> code;
};

/// The tiles of a program: functions whose (mangled) name says product and _tile.
[[maybe_unused]] std::vector<listed_function> tiles(const std::string& disassembler) {
  std::vector<listed_function> all;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(::popen(disassembler.c_str(), "r"), ::pclose);
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

/// Where a conditional jump goes; 0 for other instructions.
std::uint64_t target_of(const std::string& text) {
  if (text[0] == 'j') {  // x86-64: jne ADDRESS <name>
    return text.starts_with("jmp") ? 0
                                   : std::stoull(text.substr(text.find_first_of("0123456789abcdef", 4)), nullptr, 16);
  }
  // AArch64: b.ne ADDRESS <name>, cbnz register, ADDRESS <name>, tbnz register, bit, ADDRESS <name>
  if (!text.starts_with("b.") && !text.starts_with("cb") && !text.starts_with("tb")) return 0;
  const std::size_t end = text.find(" <"), begin = text.find_last_of("\t ", end - 1);
  return end == std::string::npos ? 0 : std::stoull(text.substr(begin + 1), nullptr, 16);
}
bool multiplies_and_adds(const std::string& text) {
  for (const char* name : {"vfmadd", "vpdpbusd", "vdpbf16ps", "vpmaddubsw", "fmla", "sdot", "usmmla", "sadalp"})
    if (text.starts_with(name)) return true;
  return false;
}

/// First and last address of the innermost loops (ends of a conditional jump backwards) that multiply and add.
[[maybe_unused]] std::vector<std::pair<std::uint64_t, std::uint64_t>> inner_loops(const listed_function& f) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> loops, inner;
  for (const instruction& i : f.code) {
    const std::uint64_t target = target_of(i.text);
    if (target != 0 && target >= f.code.front().at && target <= i.at) loops.emplace_back(target, i.at);
  }
  for (const auto& l : loops) {
    bool innermost = true, multiplies = false;
    for (const auto& k : loops) innermost = innermost && (k == l || k.first < l.first || k.second > l.second);
    for (const instruction& i : f.code)
      if (i.at >= l.first && i.at <= l.second) multiplies = multiplies || multiplies_and_adds(i.text);
    if (innermost && multiplies) inner.push_back(l);
  }
  return inner;
}

TEST(machine_code, tiles_keep_their_vectors_in_registers) {
#if !defined(__x86_64__) || !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__clang__)
  GTEST_SKIP() << "for optimised x86-64 builds with g++";
#else
  if (std::system("objdump --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs objdump";
  std::size_t int8_loops = 0, row_loops = 0, panel_loops = 0, pair_loops = 0, dot_loops = 0;
  for (const listed_function& f : tiles("objdump -d --no-show-raw-insn --section=.text /proc/$PPID/exe 2>/dev/null")) {
    const auto loops = inner_loops(f);
    // Sums of spans are in memory, so that there is no need for the stack outside of the inner loop either.
    const bool spans = f.name.find("span_tile") != std::string::npos;
    (spans || f.name.find("int8_tile") != std::string::npos ? int8_loops
     : f.name.find("int8_row_tile") != std::string::npos    ? row_loops
     : f.name.find("panel_tile") != std::string::npos       ? panel_loops
     : f.name.find("pair_tile") != std::string::npos        ? pair_loops
                                                            : dot_loops) += loops.size();
    bool frame = false;  // rbp points to the frame, and is no other register
    for (const instruction& i : f.code) frame = frame || i.text.find("%rsp,%rbp") != std::string::npos;
    for (const instruction& i : f.code) {
      const bool stack =
          i.text.find("(%rsp") != std::string::npos || (frame && i.text.find("(%rbp") != std::string::npos);
      if (!stack || i.text.find("mm") == std::string::npos) continue;
      EXPECT_FALSE(spans && i.text.find("zmm") != std::string::npos) << f.name << "\n" << i.text;
      for (const auto& l : loops) EXPECT_FALSE(i.at >= l.first && i.at <= l.second) << f.name << "\n" << i.text;
    }
  }
  // Every height of every instruction set: AVX2 has six times 4 int8 tiles, AVX-512 VNNI three times, AVX-VNNI twice;
  // for few rows AVX-512 VNNI has 6 of 8 bits, twice, and 3 each of 2 to 6, AVX-VNNI 5 and 3, AVX2 2 of 8 bits, twice,
  // 3 each of 2 to 4, and 2 each of 5 and 6; and all one more for a single row by one group.
  EXPECT_GE(int8_loops, 44u);
  EXPECT_GE(row_loops, 90u);
  EXPECT_GE(panel_loops, 8u);
  EXPECT_GE(pair_loops, 12u);
  EXPECT_GE(dot_loops, 4u);
#endif
}

/// A vector register that is stored to or loaded from the stack of AArch64.
bool moves_a_vector_by_the_stack(const std::string& text) {
  if (text.find("[sp") == std::string::npos || (!text.starts_with("ld") && !text.starts_with("st"))) return false;
  const char first = text[text.find('\t') + 1];
  return first == 'q' || first == 'd' || first == 's' || first == '{';
}

// tests/aarch64 names the disassembler and an object with the tiles.
TEST(machine_code, aarch64_tiles_keep_their_vectors_in_registers) {
  const char* disassembler = std::getenv("STENO_AARCH64_DISASSEMBLER");
  if (disassembler == nullptr) GTEST_SKIP() << "for tests/aarch64";
  std::size_t int8_loops = 0, panel_loops = 0, dot_loops = 0;
  for (const listed_function& f : tiles(disassembler)) {
    const auto loops = inner_loops(f);
    (f.name.find("int8_tile") != std::string::npos    ? int8_loops
     : f.name.find("panel_tile") != std::string::npos ? panel_loops
                                                      : dot_loops) += loops.size();
    for (const instruction& i : f.code)
      for (const auto& l : loops)
        EXPECT_FALSE(i.at >= l.first && i.at <= l.second && moves_a_vector_by_the_stack(i.text)) << f.name << "\n"
                                                                                                 << i.text;
  }
  // Every height: int8 tiles of 1 to 4, 5 and 4 rows, with a scale for a block and for a span; float tiles of 1 to 5.
  EXPECT_EQ(int8_loops, 26u);
  EXPECT_EQ(panel_loops, 5u);
  EXPECT_GE(dot_loops, 2u);
}
}  // namespace machine_code_test
