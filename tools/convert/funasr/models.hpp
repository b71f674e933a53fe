// tools/convert/funasr/models.hpp - FunASR's checkpoints: which importer takes which `model` of config.yaml.
//
// Tested in tests/convert/funasr_test.cpp and checkpoint_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "families.hpp"
#include "funasr/ct_punc.hpp"
#include "funasr/fsmn_vad.hpp"
#include "funasr/nano.hpp"
#include "funasr/paraformer.hpp"
#include "funasr/sense_voice.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

/// A folder with config.yaml or configuration.json, one of these files, or a torch file beside them.
bool is_checkpoint(const std::filesystem::path& path);
imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
