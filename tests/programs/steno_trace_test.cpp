// steno-trace writes every stage of every golden case under its name, and it is the original's; so are those of models
// of other sizes, from reference networks that were held against the originals (tests/golden/other_sizes).
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/view.hpp>

#include "run_program.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace steno_trace_test {

namespace fs = std::filesystem;

struct traced_case {
  const char* folder;
  const char* model = "checkpoint";
  const char* more = "";   ///< arguments; FOLDER is the case's
  double features = 1e-4;  ///< how far the first features may be off, by the case's README
  bool shared = true;      ///< it is one of the full golden set
  const char* input = "input.wav";
};
void PrintTo(const traced_case& c, std::ostream* out) { *out << c.folder; }

class steno_trace : public testing::TestWithParam<traced_case> {
 protected:
  void compare_stages(const std::string& options);
};

// Stages of other settings, of another input, or with rows that mean nothing (tests/parity looks at the others).
bool not_traced(const std::string& name) {
  for (const char* front : {"alt_", "variant_", "dequant_", "jfk_", "hotwords_"})
    if (name.starts_with(front)) return true;
  return name.ends_with("decoder_logprobs");
}

// The first features, from which all other stages are made; a stream has them piece by piece.
bool is_feature(const std::string& name) {
  for (const char* end : {"fbank", "cmvn", "logmel", "feats_first400", "feats_before_scaling"})
    if (name.ends_with(end)) return true;
  return false;
}

void steno_trace::compare_stages(const std::string& options) {
  fs::path folder = steno::test::compact() / "other_sizes" / GetParam().folder;
  if (GetParam().shared) {
    STENO_REQUIRE_SHARED(shared);
    folder = shared / "golden" / GetParam().folder;
  }
  const steno::test::temporary_directory to;
  std::string command = "'" STENO_TRACE_PROGRAM "' -m '";
  command.append((folder / GetParam().model).string()).append("' '").append((folder / GetParam().input).string());
  std::string more = GetParam().more;
  if (const std::size_t at = more.find("FOLDER"); at != more.npos) more.replace(at, 6, folder.string());
  command.append("' -o out ").append(more).append(" ").append(options);
  const auto o = steno::test::shell(to, command);
  ASSERT_EQ(o.code, 0) << o.err;
  int seen = 0;
  for (const auto& e : fs::directory_iterator(folder / "stages")) {
    std::string name = e.path().stem().string();
    if (not_traced(name)) continue;
    name.erase(0, name.find('_') + 1);  // the number
    if (not_traced(name)) continue;
    const fs::path ours = to.path() / "out" / (name + ".npy");
    if (!fs::exists(ours)) {
      ADD_FAILURE() << name << " is missing";
      continue;
    }
    const npy::array want = npy::load(e.path()), got = npy::load(ours);
    EXPECT_EQ(got.shape, want.shape) << name;
    if (got.size() != want.size()) continue;
    const std::vector<float> values = got.floats();
    const auto row = steno::core::make_view(values.data(), 1, static_cast<steno::extent>(values.size()));
    // The contract's bound for f32 is 1e-4 of max(1, absmax) unless a README has another one.
    // What the first call of Fun-ASR-Nano's original computes is in bf16, one step of which is 2^-8.
    const double bound = is_feature(name) ? GetParam().features : name == "inputs_embeds_first_call" ? 0x1p-7 : 1e-4;
    EXPECT_LE(steno::test::compare(row, want).relative(), bound) << name;
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

TEST_P(steno_trace, writes_the_stages_of_the_original) { compare_stages(""); }

// The kernels of the lowest instruction set read rows where they lie, and several threads read them in any order.
TEST_P(steno_trace, writes_them_without_vector_instructions_and_with_threads) {
  compare_stages("--isa scalar --threads 4");
}

constexpr const char* nemo = "checkpoint/model.nemo";
// jieba's dictionary is not in the model's folder; the case has an excerpt of it.
constexpr const char* words = "--jieba-dict FOLDER/jieba_dict_excerpt.txt";
// WeNet's own features are single precision throughout.
constexpr double wenet = 2e-2;
constexpr const char* country =
    "--set \"text=And so, my fellow Americans, ask not what your country can do for you; ask what you can do for your "
    "country!\"";
INSTANTIATE_TEST_SUITE_P(
    cases, steno_trace,
    testing::Values(traced_case{"funasr/sensevoice"}, traced_case{"funasr/paraformer"}, traced_case{"funasr/online"},
                    traced_case{"funasr/bicif"}, traced_case{"funasr/seaco"}, traced_case{"funasr/contextual"},
                    traced_case{"funasr/punc", "checkpoint", "", 1e-4, true, "expected.json"},
                    traced_case{"qwen3_asr/qwen3-forcedaligner-0.6b", "checkpoint", country}, traced_case{"funasr/vad"},
                    traced_case{"funasr/punc-jieba", "checkpoint", words, 1e-4, true, "expected.json"},
                    traced_case{"funasr/punc-realtime", "checkpoint", "", 1e-4, true, "expected.json"},
                    traced_case{"funasr/nano"}, traced_case{"funasr/nano-hf"}, traced_case{"funasr/nano-mlt"},
                    traced_case{"funasr/nano-ctc"}, traced_case{"nemo/parakeet-ctc", nemo},
                    traced_case{"nemo/parakeet-tdt", nemo}, traced_case{"nemo/parakeet-rnnt", nemo},
                    traced_case{"nemo/parakeet-eou", nemo}, traced_case{"nemo/parakeet-ctc-agg", nemo},
                    traced_case{"nemo/hf-parakeet-ctc"}, traced_case{"nemo/hf-parakeet-tdt"},
                    traced_case{"nemo/hf-parakeet-rnnt"}, traced_case{"nemo/sortformer-v1", nemo},
                    traced_case{"nemo/sortformer-streaming-v2", nemo}, traced_case{"qwen3_asr/qwen3-asr-0.6b"},
                    traced_case{"qwen3_asr/qwen3-asr-1.7b"}, traced_case{"wenet/u2_conformer", "checkpoint", "", wenet},
                    traced_case{"wenet/u2_conformer_bpe", "checkpoint", "", wenet},
                    traced_case{"wenet/u2_transformer", "checkpoint", "", wenet},
                    traced_case{"wenet/u2_unified_conformer", "checkpoint", "", wenet},
                    traced_case{"wenet/u2pp_conformer", "checkpoint", "", wenet},
                    traced_case{"whisper/en", "checkpoint/ggml/ggml-model.bin", "--set alignment_heads=1,0"},
                    traced_case{"whisper/v3", "checkpoint/hf"}));

// Made by tools/zoo/other_sizes.py, whose features are numpy's in single precision: logarithms differ by up to 1e-4.
constexpr double numpy = 5e-4;
constexpr const char* asked = "--set itn=true --set hotwords=one";
constexpr const char* said =
    "--set \"text=\xc3\xbc"
    "ber \xe2\x80\xa6 don't end\"";
constexpr const char* prompt = "--set prompt=1508,1643,1735,638,848,1727,942,1469,211,951,720";
constexpr const char* pieces =
    "--set chunk_before=0 --set chunk_size=4 --set chunk_after=7 --set encoder_look_back=1 --set decoder_look_back=3";
INSTANTIATE_TEST_SUITE_P(other_sizes, steno_trace,
                         testing::Values(traced_case{"sense_voice", "checkpoint", "", numpy, false},
                                         traced_case{"paraformer", "checkpoint", "", numpy, false},
                                         traced_case{"paraformer_online", "checkpoint", pieces, numpy, false},
                                         traced_case{"ct_punc", "checkpoint", "", numpy, false, "input.txt"},
                                         traced_case{"fun_asr_nano", "checkpoint", asked, numpy, false},
                                         traced_case{"qwen3_aligner", "checkpoint", said, numpy, false},
                                         traced_case{"qwen3_asr", "checkpoint", "--set max_new_tokens=5", numpy, false},
                                         traced_case{"whisper", "checkpoint", prompt, numpy, false},
                                         traced_case{"fsmn_vad", "checkpoint", "", numpy, false},
                                         traced_case{"u2", "checkpoint", "", numpy, false},
                                         traced_case{"parakeet_ctc", nemo, "", numpy, false},
                                         traced_case{"parakeet_rnnt", nemo, "", numpy, false},
                                         traced_case{"parakeet_tdt", nemo, "", numpy, false},
                                         traced_case{"parakeet_eou", nemo, "", numpy, false},
                                         traced_case{"sortformer", nemo, "", numpy, false},
                                         traced_case{"sortformer_stream", nemo, "", numpy, false}));

}  // namespace steno_trace_test
