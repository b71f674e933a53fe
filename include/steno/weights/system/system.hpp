// steno/weights/system/system.hpp - what weights need of the operating system: memory by whole pages, and files.
//
// Each system's header defines, in steno::weights::system:
//   new_pages(bytes)                     zeroed memory, at least 64-byte aligned, or nullptr; on huge pages where the
//                                        system has them
//   untouched_is_free                    whether such memory costs nothing before it is touched
//   free_pages(start, bytes)             all that new_pages() gave
//   source_file(path)                    a regular file, open for reading; throws steno::error that names the path
//     .size()                            its bytes, at least one
//     .map()                             all of them as read-only memory, or nullptr
//     .read(to, bytes, at)               how many it read, 0 at the end, -1: reason() says why
//   unmap(start, bytes)                  all that map() gave
//   release_mapped / release_new(part)   gives the whole pages inside back: bytes of the file again, or zeros; where
//                                        there are no pages (WebAssembly), nothing
//   reason()                             why the last call failed
//   is_out_of_memory()                   whether that was a lack of memory or address space
// Paths are UTF-8 everywhere. Tested in tests/weights/mapped_file_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#if defined(_WIN32)
#include <steno/weights/system/windows.hpp>
#else
#include <steno/weights/system/posix.hpp>
#endif
