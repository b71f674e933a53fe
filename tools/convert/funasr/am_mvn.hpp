// tools/convert/funasr/am_mvn.hpp - the mean and variance file am.mvn of FunASR checkpoints (Kaldi nnet text form).
//
//   <Nnet>
//   <Splice> 560 560
//   [ 0 ]
//   <AddShift> 560 560
//   <LearnRateCoef> 0 [ -8.31 -8.60 ... ]
//   <Rescale> 560 560
//   <LearnRateCoef> 0 [ 0.156 0.154 ... ]
//   </Nnet>
// y = (x + shift) * scale. A bracketed block belongs to the component named last; blocks of components other than
// AddShift and Rescale (such as Splice's [ 0 ]) are skipped. Follows load_cmvn of funasr/frontends/wav_frontend.py.
// Tested in tests/convert/am_mvn_test.cpp, fuzzed by tests/fuzz/am_mvn_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

struct folder;

struct am_mvn {
  std::vector<float> shift, scale;  ///< of equal length
};

/// Throws steno::error when a block is missing, repeated, of another length than its component says, or not numbers.
am_mvn parse_am_mvn(std::string_view text, const std::string& where);

/// Reads the file; throws steno::error.
am_mvn read_am_mvn(const std::string& path);

/// Puts the file's values into a model (cmvn.shift, cmvn.scale), in place of any there; they must be as many as its
/// front end stacks. Throws steno::error.
void set_cmvn(imported_model& model, const std::filesystem::path& path);

/// Whether the features of the model are normalised.
bool has_cmvn(const imported_model& model);

/// `path` if there is one, else the folder's own file into the model; a note says when there is neither. FunASR then
/// normalises nothing. Throws steno::error.
void take_cmvn(imported_model& model, const folder& f, const std::optional<std::filesystem::path>& path);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
