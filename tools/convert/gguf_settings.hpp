// tools/convert/gguf_settings.hpp - the keys of another maker's GGUF file as settings (checkpoint_settings.hpp).
//
// Tested in tests/convert/checkpoint_settings_test.cpp.
#pragma once
#include <steno/weights/gguf.hpp>

#include "checkpoint_settings.hpp"

namespace steno {
inline namespace STENO_ABI {

/// Numbers, flags and strings by key; an array is in `others`: whoever reads it from the file says so by mark_read().
checkpoint_settings gguf_settings(const gguf_file& file);

}  // namespace STENO_ABI
}  // namespace steno
