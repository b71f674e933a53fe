# For WebAssembly with Debian's emscripten; programs run in Node.js, which lets them see the host's files. 128-bit
# vectors and exceptions are the processor's own: every browser since 2023 and Node.js from 18 have both. One thread.
# SPDX-License-Identifier: Apache-2.0
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
# With fetch(), emscripten 3.1.6 takes Node for a browser.
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-experimental-fetch)
set(CMAKE_C_FLAGS_INIT "-msimd128")
set(CMAKE_CXX_FLAGS_INIT "-msimd128 -fwasm-exceptions")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-fwasm-exceptions -sALLOW_MEMORY_GROWTH=1 -sNODERAWFS=1")
set(Eigen3_DIR /usr/share/eigen3/cmake)  # headers that suit every system
# Made by tools/foreign-libraries.
get_filename_component(libraries "${CMAKE_CURRENT_LIST_DIR}/../../build-wasm/libraries" ABSOLUTE)
set(ZLIB_ROOT ${libraries})
list(APPEND CMAKE_PREFIX_PATH ${libraries})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/lib/pkgconfig)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)  # the host's libraries are not for this system
