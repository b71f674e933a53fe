// tools/convert/gguf_settings.hpp - the keys of another maker's GGUF file as settings (checkpoint_settings.hpp).
//
// Tested in tests/convert/checkpoint_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/gguf.hpp>

#include "checkpoint_settings.hpp"

namespace steno {
inline namespace STENO_ABI {

/// What stands below "general" and "tokenizer" in GGUF files, as their specification and their writers name it; for
/// unused_setting::parts.
inline constexpr std::string_view general_gguf_keys =
    "alignment architecture author base_model basename count dataset datasets description doi file_type finetune id "
    "languages license link name organization quantization_version quantized_by repo_url sampling size_label source "
    "tags type url uuid version";
inline constexpr std::string_view tokenizer_gguf_keys =
    "add_bos_token add_eos_token add_space_prefix added_tokens blank_token_id bos_token_id chat_template eos_token_id "
    "ggml huggingface json mask_token_id merges model pad_token_id padding_token_id pre precompiled_charsmap "
    "remove_extra_whitespaces scores sentencepiece_model separator_token_id token_type tokens unk_token_id "
    "unknown_token_id";

/// Numbers, flags and strings by key; an array is in `others`: whoever reads it from the file says so by mark_read().
checkpoint_settings gguf_settings(const gguf_file& file);

}  // namespace STENO_ABI
}  // namespace steno
