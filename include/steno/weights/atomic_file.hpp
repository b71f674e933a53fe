// steno/weights/atomic_file.hpp - a file that appears under its name only when it is complete.
//
//   atomic_file(path)   opens a file beside the target, or one without a name; an older target stays until commit()
//     .write(bytes)     appends
//     .commit()         brings the bytes to the disk and gives the file its name
// What a process that died left behind is removed by the next one that writes the same target. Tested in
// tests/weights/atomic_file_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#if defined(_WIN32)
#include <steno/weights/system/atomic_file_windows.hpp>
#else
#include <steno/weights/system/atomic_file_posix.hpp>
#endif
