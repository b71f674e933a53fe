// A library for LD_PRELOAD that lets one allocation of a program fail: malloc, calloc, realloc, memalign, aligned_alloc
// and posix_memalign are counted from the start of main to its end (operator new comes through malloc).
//
//   STENO_FAIL_ALLOCATION=N   the N-th fails, once; 0: none
//   STENO_FAIL_FROM=N         the N-th and all later ones fail
//   STENO_COUNT_TO=FILE       the number of allocations is written to FILE at the end of main
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<bool> armed{false};
std::atomic<unsigned long> count{0};
unsigned long fails_at = 0, fails_from = 0;
int (*real_main)(int, char**, char**) = nullptr;

unsigned long number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
}

// Whether this allocation is to fail.
bool fails() {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const unsigned long n = count.fetch_add(1) + 1;
  if (n != fails_at && (fails_from == 0 || n < fails_from)) return false;
  errno = ENOMEM;
  return true;
}

int counted_main(int argc, char** argv, char** environment) {
  fails_at = number("STENO_FAIL_ALLOCATION");
  fails_from = number("STENO_FAIL_FROM");
  armed = true;
  const int code = real_main(argc, argv, environment);
  armed = false;
  if (const char* path = std::getenv("STENO_COUNT_TO")) {
    char text[32];
    const int size = std::snprintf(text, sizeof text, "%lu\n", count.load());
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::write(file, text, static_cast<std::size_t>(size)) != size) std::_Exit(125);
    ::close(file);
  }
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using start = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return reinterpret_cast<start>(dlsym(RTLD_NEXT, "__libc_start_main"))(counted_main, argc, argv, init, fini, rtld_fini,
                                                                        stack_end);
}

void* malloc(std::size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) { return fails() ? nullptr : __libc_calloc(n, size); }
void* realloc(void* old, std::size_t size) { return fails() ? nullptr : __libc_realloc(old, size); }
void* memalign(std::size_t alignment, std::size_t size) { return fails() ? nullptr : __libc_memalign(alignment, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  void* const got = fails() ? nullptr : __libc_memalign(alignment, size);
  if (got == nullptr) return ENOMEM;
  *result = got;
  return 0;
}
}
