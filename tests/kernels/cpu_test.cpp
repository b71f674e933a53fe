#include <steno/kernels/cpu.hpp>

#include <gtest/gtest.h>

namespace {
using steno::kernels::active_isa;
using steno::kernels::best_isa;
using steno::kernels::isa;
using steno::kernels::limit_isa;

TEST(cpu, starts_at_the_best_set) { EXPECT_EQ(active_isa(), best_isa()); }

TEST(cpu, is_lowered_and_raised_but_not_beyond_the_best) {
  for (isa level : {isa::scalar, isa::avx2, isa::avx512, isa::avx512vnni}) {
    limit_isa(level);
    EXPECT_EQ(active_isa(), std::min(level, best_isa())) << name_of(level);
  }
  limit_isa(best_isa());
  EXPECT_EQ(active_isa(), best_isa());
}

TEST(cpu, agrees_with_the_compilers_promise) {
  EXPECT_GE(best_isa(), steno::kernels::detail::promised_isa());
  EXPECT_GE(best_isa(), isa::scalar);
}
}  // namespace
