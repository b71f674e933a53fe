# What the test does where it cannot be built.
# SPDX-License-Identifier: Apache-2.0
if("$ENV{CI}" STREQUAL "true")
  message(FATAL_ERROR "CI needs aarch64-linux-gnu-g++, qemu-aarch64 and the sources of googletest")
endif()
message("Skipped: needs aarch64-linux-gnu-g++, qemu-aarch64 and the sources of googletest")
