# For Windows on x86-64 from Debian, with mingw-w64's g++ (threads of POSIX); programs run on wine. Libraries come from
# build-windows/libraries (tools/foreign-libraries); Eigen, which suits every system, from the host.
# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
get_filename_component(libraries "${CMAKE_CURRENT_LIST_DIR}/../../build-windows/libraries" ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${libraries} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/lib/pkgconfig)
set(ZLIB_USE_STATIC_LIBS ON)
set(Eigen3_DIR /usr/share/eigen3/cmake)
set(CMAKE_C_FLAGS_INIT "-DLIBARCHIVE_STATIC -DZIP_STATIC")
set(CMAKE_CXX_FLAGS_INIT "-DLIBARCHIVE_STATIC -DZIP_STATIC")
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)  # programs that need no DLLs of the compiler's beside them
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
