// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/cpu.hpp>
#include <steno/kernels/read_ahead.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace cpu_test {

using steno::kernels::active_isa;
using steno::kernels::best_isa;
using steno::kernels::has_isa;
using steno::kernels::isa;
using steno::kernels::limit_isa;

TEST(cpu, starts_at_the_best_set) { EXPECT_EQ(active_isa(), best_isa()); }

TEST(cpu, is_lowered_and_raised_but_not_beyond_the_best) {
  for (isa level : steno::kernels::isa_levels) {
    limit_isa(level);
    EXPECT_TRUE(has_isa(active_isa())) << name_of(level);
    for (isa lower : steno::kernels::isa_levels)
      if (lower <= level && has_isa(lower)) {
        EXPECT_LE(lower, active_isa()) << name_of(level);
      }
    EXPECT_LE(active_isa(), level);
  }
  limit_isa(best_isa());
  EXPECT_EQ(active_isa(), best_isa());
}

TEST(cpu, has_its_best_set_and_all_below_but_for_avxvnni) {
  EXPECT_TRUE(has_isa(best_isa()));
  for (isa level : steno::kernels::isa_levels) {
    if (level > best_isa()) {
      EXPECT_FALSE(has_isa(level)) << name_of(level);
    } else if (name_of(level) != "avxvnni") {
      EXPECT_TRUE(has_isa(level)) << name_of(level);
    }
  }
}

TEST(cpu, agrees_with_the_compilers_promise) {
  EXPECT_GE(best_isa(), steno::kernels::detail::promised_isa());
  EXPECT_GE(best_isa(), isa::scalar);
}

TEST(read_ahead, is_known_for_every_family) {
  using namespace steno::kernels;
  // Signatures of a Sapphire Rapids, a Zen 3, a Zen 4 and two Zen 5 processors.
  constexpr unsigned sapphire_rapids = 0x806f8, zen3 = 0xa00f11, zen4 = 0xa10f11, zen5 = 0xb00f21,
                     zen5_client = 0xb40f40;
  EXPECT_EQ(detail::processor_family_of("GenuineIntel", true, sapphire_rapids), processor_family::intel);
  EXPECT_EQ(detail::processor_family_of("AuthenticAMD", false, zen3), processor_family::amd);
  EXPECT_EQ(detail::processor_family_of("AuthenticAMD", true, zen4), processor_family::amd_zen4);
  EXPECT_EQ(detail::processor_family_of("AuthenticAMD", true, zen5), processor_family::amd_zen5);
  EXPECT_EQ(detail::processor_family_of("AuthenticAMD", true, zen5_client), processor_family::amd_zen5);
  EXPECT_EQ(detail::processor_family_of("HygonGenuine", false, 0x900f22), processor_family::amd);
  EXPECT_EQ(detail::processor_family_of("CentaurHauls", false, 0x6fe), processor_family::other);
  EXPECT_EQ(this_family(), detail::query_family());
  for (const read_ahead_entry& entry : read_ahead_table) {
    EXPECT_EQ(read_ahead_of(entry.family), entry.ahead);
    for (const int bits : {8, 4}) {
      const int streams = entry.ahead.blocks(bits).streams;
      EXPECT_TRUE(streams == 1 || streams == 2);
    }
  }
}
TEST(read_ahead, is_whole_units_and_never_nothing) {
  using steno::kernels::read_ahead;
  constexpr read_ahead::of_blocks ahead{2048, steno::kernels::cache_level::first, 2};
  EXPECT_EQ(ahead.blocks(512, 1), 4U);
  EXPECT_EQ(ahead.blocks(320, 1), 6U);
  EXPECT_EQ(ahead.blocks(512, 4), 4U);
  EXPECT_EQ(ahead.blocks(128, 8), 16U);
  EXPECT_EQ(ahead.blocks(288, 8), 8U);  // a superblock of q4_k is longer than that
  EXPECT_EQ(ahead.blocks(448, 8), 8U);
}

TEST(processor_family, bfloat16_is_a_matter_of_the_level_in_use) {
  using namespace steno::kernels;
  for (const isa level : isa_levels) {
    limit_isa(level);
    if (has_fast_bfloat16()) {
      EXPECT_TRUE(this_family() == processor_family::amd_zen4 || this_family() == processor_family::amd_zen5);
      EXPECT_GT(level, lowest_vector_isa);
    }
  }
  limit_isa(best_isa());
}

// tests/aarch64 runs this program on emulated processors of each level, and names the level.
TEST(cpu, is_recognised) {
  const char* expected = std::getenv("STENO_EXPECTED_ISA");
  if (expected == nullptr) GTEST_SKIP() << "for processors that are known beforehand";
  EXPECT_EQ(name_of(best_isa()), expected);
}
}  // namespace cpu_test
