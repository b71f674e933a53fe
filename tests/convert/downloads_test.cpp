// The table of downloads: docs/downloads.md is made of it, and its sizes are those of the full-size lists.
// SPDX-License-Identifier: Apache-2.0
#include "downloads.hpp"

#include <steno/models/bicif_paraformer.hpp>
#include <steno/models/canary.hpp>
#include <steno/models/contextual_paraformer.hpp>
#include <steno/models/ct_punc.hpp>
#include <steno/models/ct_punc_realtime.hpp>
#include <steno/models/fsmn_vad.hpp>
#include <steno/models/fun_asr_nano.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/models/paraformer_online.hpp>
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/models/qwen3_aligner.hpp>
#include <steno/models/qwen3_asr.hpp>
#include <steno/models/seaco_paraformer.hpp>
#include <steno/models/sense_voice.hpp>
#include <steno/models/sortformer.hpp>
#include <steno/models/whisper.hpp>

#include <memory>
#include <set>

#include "convert/fixtures.hpp"
#include "convert/published.hpp"
#include "nemo/fastconformer.hpp"
#include "number_formats.hpp"
#include "support/golden.hpp"
#include "wenet/folder.hpp"
#include "wenet/u2.hpp"

namespace downloads_test {

using namespace steno;

// The tensors of a packaged file, by walking a model of any size over the list.
template <class Model>
std::vector<imported_tensor> taken(checkpoint_tensors from) {
  weights::gguf_writer nothing;
  nothing.set("general.architecture", Model::architecture);
  const std::vector<std::byte> image = nothing.bytes();
  const gguf_file keys("keys", image);
  tensor_taker taker(keys, std::string(Model::architecture), from);
  const auto model = std::make_unique<Model>();
  core::walk(*model, taker);
  return taker.finish();
}

// The settings of U2 decide which layers there are: from the published train.yaml, which lies beside the list.
std::vector<imported_tensor> of_wenet(checkpoint_tensors from) {
  const extent vocabulary = find(from, "ctc.ctc_lo.bias")->shape[0];
  std::string units;
  std::vector<std::string> tokens;
  for (extent i = 0; i < vocabulary; ++i) {
    tokens.push_back("u" + std::to_string(i));
    units.append(tokens.back()).append(" ").append(std::to_string(i)).append("\n");
  }
  const test::temporary_directory d;
  std::filesystem::copy_file(*test::shared() / "manifests" / (from.where + ".yaml"), d.path() / "train.yaml");
  test::write_text(d.path() / "units.txt", units);
  test::write_text(d.path() / "final.pt", "PK");
  const wenet_files::u2_settings s = wenet_files::read_settings(wenet_files::open_folder(d.path()), tokens.size());
  std::erase_if(from.all, [](const stored_tensor& t) { return t.name.starts_with("encoder.global_cmvn."); });
  imported_model model;
  wenet_files::set_keys(model.file, s);
  model.file.set("tokenizer.ggml.tokens", tokens);
  wenet_files::promise(from, s);
  take_tensors(model, std::move(from));
  return std::move(model.tensors);
}

std::vector<imported_tensor> tensors_of(const std::string& name, checkpoint_tensors from) {
  const auto is = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  from.ignored = {"decoder.embed.0.weight",
                  "preprocessor",
                  ".num_batches_tracked",
                  ".hidden_to_spks",
                  ".pe",
                  "encoder.global_cmvn",
                  "log_softmax.mlp.layer0.weight"};
  if (is("wenet")) return of_wenet(std::move(from));
  if (is("nemo-")) from.named = nemo_files::nemo_name;
  if (is("sensevoice")) return taken<funasr::sense_voice_small>(std::move(from));
  if (is("online")) return taken<funasr::paraformer_large_online>(std::move(from));
  if (is("seaco")) return taken<funasr::seaco_paraformer_large>(std::move(from));
  if (is("bicif")) return taken<funasr::bicif_paraformer_large>(std::move(from));
  if (is("contextual")) return taken<funasr::contextual_paraformer_large>(std::move(from));
  if (is("paraformer")) return taken<funasr::paraformer_large>(std::move(from));
  if (is("nano")) return taken<funasr::fun_asr_nano_0_8b>(std::move(from));
  if (is("fsmn")) return taken<funasr::fsmn_vad_small>(std::move(from));
  if (is("punc-realtime")) return taken<funasr::ct_punc_realtime_zh>(std::move(from));
  if (is("471067")) return taken<funasr::ct_punc_large>(std::move(from));
  if (is("punc")) return taken<funasr::ct_punc_zh>(std::move(from));
  if (is("aligner")) return taken<qwen3::qwen3_forced_aligner_any>(std::move(from));
  if (is("qwen3")) return taken<qwen3::qwen3_asr_any>(std::move(from));
  if (is("whisper")) return taken<whisper::whisper_any>(std::move(from));
  if (is("sortformer_4spk-v1")) return taken<nemo::sortformer_4spk_v1>(std::move(from));
  if (is("sortformer_4spk-v2")) return taken<nemo::sortformer_4spk_v2>(std::move(from));
  if (is("parakeet-ctc-0.6b")) return taken<nemo::parakeet_ctc_06b>(std::move(from));
  if (is("parakeet-ctc-1.1b")) return taken<nemo::parakeet_ctc_11b>(std::move(from));
  if (is("parakeet-tdt-0.6b-v3")) return taken<nemo::parakeet_tdt_06b_v3>(std::move(from));
  if (is("parakeet-tdt-1.1b")) return taken<nemo::parakeet_tdt_11b>(std::move(from));
  if (is("parakeet-unified")) return taken<nemo::parakeet_unified_en_06b>(std::move(from));
  if (is("nemotron")) return taken<nemo::nemotron_35_streaming_06b>(std::move(from));
  if (is("canary-1b")) return taken<nemo::canary_1b_v2>(std::move(from));
  if (is("canary-180m")) return taken<nemo::canary_180m_flash>(std::move(from));
  if (is("eou")) return taken<nemo::parakeet_realtime_eou_120m>(std::move(from));
  ADD_FAILURE() << name;
  return {};
}

unsigned megabytes(double bytes) { return static_cast<unsigned>(bytes / 1e6 + 0.5); }

unsigned size_in(const std::vector<imported_tensor>& tensors, dtype type) {
  double bytes = 0;
  for (const imported_tensor& t : tensors)
    bytes += static_cast<double>(core::bytes_of(packaged_format(t, type), static_cast<std::size_t>(t.count())));
  return megabytes(bytes);
}

// From the formats in the second column; 0 where another name stands there.
unsigned stored_size(const std::filesystem::path& list) {
  std::ifstream file(list);
  double bytes = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream row(line);
    std::string name, format, shape;
    std::getline(row, name, '\t');
    std::getline(row, format, '\t');
    std::getline(row, shape, '\t');
    if (line.starts_with('#') || shape.empty() || shape[0] < '0' || shape[0] > '9') continue;
    if (name == "log_softmax.mlp.layer0.weight") continue;  // Canary's embedding, stored once under two names
    double count = 1;
    std::istringstream extents(shape);
    for (std::string e; std::getline(extents, e, 'x');) count *= std::stod(e);
    if (format == "BF16" || format == "bfloat16")
      bytes += count * 2;
    else if (format == "float32")
      bytes += count * 4;
  }
  return megabytes(bytes);
}

TEST(downloads, sizes_are_those_of_the_full_size_lists) {
  STENO_REQUIRE_SHARED(shared);
  for (const download& d : downloads()) {
    SCOPED_TRACE(std::string(d.name));
    const std::string list(d.manifest);
    if (!list.empty()) {
      EXPECT_TRUE(std::filesystem::exists(shared / "manifests" / (list + ".tsv")));
    }
    EXPECT_EQ(d.megabytes.f16 != 0, has(d.how, checked::listed)) << "a size for each list that is accepted, no other";
    if (d.megabytes.f16 == 0) continue;
    const std::vector<imported_tensor> tensors = tensors_of(list, test::published(shared, list));
    if (!d.megabytes.published) {
      EXPECT_EQ(d.megabytes.download, stored_size(shared / "manifests" / (list + ".tsv")));
    }
    EXPECT_EQ(d.megabytes.f16, size_in(tensors, dtype::f16));
    EXPECT_EQ(d.megabytes.q8_0, size_in(tensors, dtype::q8_0));
    EXPECT_EQ(d.megabytes.q4_k, size_in(tensors, dtype::q4_k));
  }
}

TEST(downloads, every_row_is_whole) {
  std::set<std::string_view> names;
  for (const download& d : downloads()) {
    EXPECT_TRUE(names.insert(d.name).second) << d.name;
    EXPECT_EQ(d.input.empty(), has(d.how, checked::refused)) << d.name;
    EXPECT_EQ(d.input.empty(), d.output.empty()) << d.name;
    EXPECT_FALSE(d.from.empty()) << d.name;
    if (has(d.how, checked::listed)) {
      EXPECT_FALSE(d.manifest.empty()) << d.name;
    }
  }
}

// The page is an introduction and the table, which `steno-convert --list-markdown` prints.
TEST(downloads, the_page_is_the_table) {
  const std::string page = test::read_text(std::filesystem::path(STENO_SOURCE_DIR) / "docs/downloads.md");
  const std::string table = downloads_markdown();
  const std::size_t at = page.find("\n## ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(page.substr(at + 1), table);
}

TEST(downloads, the_list_has_every_row) {
  const std::string text = downloads_text();
  for (const download& d : downloads()) {
    EXPECT_NE(text.find(std::string(d.name) + "\n  from       " + std::string(d.from)), std::string::npos) << d.name;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

}  // namespace downloads_test
