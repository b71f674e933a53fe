// What becomes of a call: statuses and messages of exceptions. No exception leaves the library.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/steno.h>
#include <steno/error.hpp>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

namespace steno::c {

inline steno_status tell(char** error, steno_status status, const char* text) noexcept {
  if (error != nullptr && (*error = static_cast<char*>(std::malloc(std::strlen(text) + 1))) != nullptr)
    std::strcpy(*error, text);
  return status;
}
inline steno_status misuse(char** error, const char* text) noexcept { return tell(error, STENO_MISUSE, text); }

// Runs `call` and makes a status of what it throws.
template <class F>
steno_status guarded(char** error, F&& call) noexcept {
  try {
    call();
    return STENO_OK;
  } catch (const core::cancelled&) {
    return tell(error, STENO_CANCELLED, "cancelled");
  } catch (const core::out_of_memory& e) {
    return tell(error, STENO_NO_MEMORY, e.what());
  } catch (const std::bad_alloc&) {
    return tell(error, STENO_NO_MEMORY, "out of memory");
  } catch (const std::length_error&) {  // of a container that cannot be so large
    return tell(error, STENO_NO_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return tell(error, STENO_ERROR, e.what());
  } catch (...) {
    return tell(error, STENO_ERROR, "an error of an unknown kind");
  }
}

}  // namespace steno::c
