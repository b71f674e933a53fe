# For Linux on x86-64 with musl, statically linked: the compiler of tools/musl/toolchain, libraries of
# tools/foreign-libraries in build-musl/libraries; Eigen, which suits every system, from the host. Programs run as they
# are.
# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
get_filename_component(musl "${CMAKE_CURRENT_LIST_DIR}/../../build-musl" ABSOLUTE)
set(CMAKE_C_COMPILER ${musl}/bin/cc)
set(CMAKE_CXX_COMPILER ${musl}/bin/c++)
set(CMAKE_FIND_ROOT_PATH ${musl}/libraries)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${musl}/libraries/lib/pkgconfig)
set(Eigen3_DIR /usr/share/eigen3/cmake)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-z,stack-size=1048576")  # of a thread; musl gives it 128 KB
