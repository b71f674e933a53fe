// SPDX-License-Identifier: Apache-2.0
#include <steno/core/processors.hpp>
#include <steno/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "support/golden.hpp"

namespace processors_test {

#if defined(__linux__)
using steno::core::detail::granted_processors;
using steno::core::detail::processors_of_quota;

TEST(processors, a_quota_is_rounded_up) {
  EXPECT_EQ(processors_of_quota("200000", "100000"), 2);
  EXPECT_EQ(processors_of_quota("250000", "100000\n"), 3);
  EXPECT_EQ(processors_of_quota("1000", "100000"), 1);
  for (const char* none : {"max", "-1", "0", "", "1e30", "nan"}) EXPECT_EQ(processors_of_quota(none, "100000"), 0);
  EXPECT_EQ(processors_of_quota("100000", ""), 0);
}

class control_groups : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = dir_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int granted(std::string_view groups) const { return granted_processors(groups, dir_.path().string()); }

 private:
  steno::test::temporary_directory dir_;
};

TEST_F(control_groups, second_version) {
  EXPECT_EQ(granted("0::/\n"), 0);
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(granted("0::/\n"), 0);
  write("a/cpu.max", "350000 100000\n");
  write("a/b/cpu.max", "max 100000\n");
  write("a/b/c/cpu.max", "800000 100000\n");
  EXPECT_EQ(granted("0::/a/b/c\n"), 4);  // what the group around it has
  EXPECT_EQ(granted("0::/a/b/"), 4);
  EXPECT_EQ(granted("0::/b\n"), 0);
  write("cpu.max", "150000 100000\n");  // of a container that is told the path outside
  EXPECT_EQ(granted("0::/somewhere/else\n"), 2);
}

TEST_F(control_groups, first_version) {
  const std::string groups = "12:pids:/x\n4:cpu,cpuacct:/x/y\n3:cpuset:/x\n1:name=systemd:/x\n";
  EXPECT_EQ(granted(groups), 0);
  write("cpu/x/y/cpu.cfs_quota_us", "-1\n");
  write("cpu/x/y/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(granted(groups), 0);
  write("cpu/x/cpu.cfs_quota_us", "50000\n");
  write("cpu/x/cpu.cfs_period_us", "20000\n");
  EXPECT_EQ(granted(groups), 3);
  EXPECT_EQ(granted("3:cpuset:/x\n"), 0);
}

TEST_F(control_groups, lines_that_are_none) {
  write("cpu.max", "100000 100000\n");
  for (const char* text : {"", "\n\n", "0", "0:", "::x", "garbage\n:\n", "0:cpuset"})
    EXPECT_LE(granted(text), 1) << text;
  EXPECT_EQ(granted("0::"), 1);
}

#endif

TEST(processors, at_least_one_and_no_more_than_there_are) {
  const int n = steno::core::processors();
  EXPECT_GE(n, 1);
  EXPECT_LE(n, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  EXPECT_EQ(steno::thread_pool().width(), n);
}

}  // namespace processors_test
