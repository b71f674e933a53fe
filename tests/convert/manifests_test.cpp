// Every named size of a model against the names and shapes of the checkpoint that was published: none missing, none
// unused, and each as the model expects it (members and what stands beside a name, core/stored.hpp).
// SPDX-License-Identifier: Apache-2.0
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

#include "convert/fixtures.hpp"
#include "convert/published.hpp"
#include "nemo/fastconformer.hpp"
#include "support/refusal.hpp"

namespace manifests_test {

using namespace steno;
using test::published;

// What is wrong with the tensors for this type; empty when nothing is.
template <class Model>
std::string differences(checkpoint_tensors from) {
  weights::gguf_writer nothing;
  nothing.set("general.architecture", Model::architecture);
  const std::vector<std::byte> image = nothing.bytes();
  const gguf_file keys("keys", image);
  tensor_taker taker(keys, std::string(Model::architecture), from);
  const auto model = std::make_unique<Model>();
  core::walk(*model, taker);
  return test::refusal([&] { (void)taker.finish(); });
}

TEST(manifests, funasr) {
  STENO_REQUIRE_SHARED(shared);
  EXPECT_EQ(differences<steno::funasr::sense_voice_small>(published(shared, "sensevoice-small")), "");
  EXPECT_EQ(differences<steno::funasr::ct_punc_zh>(published(shared, "ct-transformer-punc-272727")), "");
  EXPECT_EQ(differences<steno::funasr::fsmn_vad_small>(published(shared, "fsmn-vad")), "");
  EXPECT_EQ(differences<steno::funasr::ct_punc_large>(published(shared, "ct-punc-471067-large")), "");
  EXPECT_EQ(differences<steno::funasr::ct_punc_realtime_zh>(published(shared, "ct-punc-realtime-272727")), "");
  for (const char* name : {"fun-asr-nano-2512-ms", "fun-asr-nano-2512-hf", "fun-asr-mlt-nano-2512"})
    EXPECT_EQ(differences<steno::funasr::fun_asr_nano_0_8b>(published(shared, name)), "") << name;
  checkpoint_tensors whole = published(shared, "paraformer-large-zh");
  checkpoint_tensors online = published(shared, "paraformer-large-zh-online");
  whole.ignored = online.ignored = {"decoder.embed.0.weight"};  // serves training alone
  EXPECT_EQ(differences<steno::funasr::paraformer_large>(whole), "");
  EXPECT_EQ(differences<steno::funasr::paraformer_large_online>(online), "");
  checkpoint_tensors bicif = published(shared, "bicif-paraformer-large-zh");
  checkpoint_tensors contextual = published(shared, "contextual-paraformer-large-zh");
  bicif.ignored = contextual.ignored = {"decoder.embed.0.weight"};
  EXPECT_EQ(differences<steno::funasr::bicif_paraformer_large>(bicif), "");
  EXPECT_EQ(differences<steno::funasr::contextual_paraformer_large>(contextual), "");
  EXPECT_EQ(differences<steno::funasr::seaco_paraformer_large>(published(shared, "seaco-paraformer-large-zh")), "");
}

checkpoint_tensors of_nemo(const std::filesystem::path& shared, const std::string& name) {
  checkpoint_tensors from = published(shared, "nemo-" + name);
  from.named = nemo_files::nemo_name;
  from.ignored = {"preprocessor", ".num_batches_tracked", "sortformer_modules.hidden_to_spks",
                  "log_softmax.mlp.layer0.weight"};
  return from;
}

TEST(manifests, nemo) {
  STENO_REQUIRE_SHARED(shared);
  EXPECT_EQ(differences<steno::nemo::parakeet_ctc_06b>(of_nemo(shared, "parakeet-ctc-0.6b")), "");
  EXPECT_EQ(differences<steno::nemo::parakeet_ctc_11b>(of_nemo(shared, "parakeet-ctc-1.1b")), "");
  EXPECT_EQ(differences<steno::nemo::parakeet_tdt_06b_v3>(of_nemo(shared, "parakeet-tdt-0.6b-v3")), "");
  EXPECT_EQ(differences<steno::nemo::parakeet_tdt_11b>(of_nemo(shared, "parakeet-tdt-1.1b")), "");
  EXPECT_EQ(differences<steno::nemo::parakeet_realtime_eou_120m>(of_nemo(shared, "parakeet_realtime_eou_120m-v1")), "");
  EXPECT_EQ(differences<steno::nemo::parakeet_unified_en_06b>(of_nemo(shared, "parakeet-unified-en-0.6b")), "");
  EXPECT_EQ(differences<steno::nemo::nemotron_35_streaming_06b>(of_nemo(shared, "nemotron-3.5-asr-streaming-0.6b")),
            "");
  EXPECT_EQ(differences<steno::nemo::canary_1b_v2>(of_nemo(shared, "canary-1b-v2")), "");
  EXPECT_EQ(differences<steno::nemo::canary_180m_flash>(of_nemo(shared, "canary-180m-flash")), "");
  EXPECT_EQ(differences<steno::nemo::sortformer_4spk_v1>(of_nemo(shared, "diar_sortformer_4spk-v1")), "");
  EXPECT_EQ(differences<steno::nemo::sortformer_4spk_v2>(of_nemo(shared, "diar_streaming_sortformer_4spk-v2")), "");
}

TEST(manifests, qwen) {
  STENO_REQUIRE_SHARED(shared);
  EXPECT_EQ(differences<steno::qwen3::qwen3_asr_0_6b>(published(shared, "qwen3-asr-0.6b")), "");
  EXPECT_EQ(differences<steno::qwen3::qwen3_asr_1_7b>(published(shared, "qwen3-asr-1.7b")), "");
  EXPECT_EQ(differences<steno::qwen3::qwen3_forced_aligner_0_6b>(published(shared, "qwen3-forcedaligner-0.6b")), "");
}

// The lists of the sizes for English alone, and of large before v3, differ in the vocabulary and the bands.
checkpoint_tensors of_whisper(const std::filesystem::path& shared, const std::string& name, extent tokens = 0,
                              extent mels = 0) {
  checkpoint_tensors from = published(shared, "whisper-" + name);
  for (stored_tensor& t : from.all) {
    if (tokens != 0 && t.name == "decoder.token_embedding.weight") t.shape[0] = tokens;
    if (mels != 0 && t.name == "encoder.conv1.weight") t.shape[1] = mels;
  }
  return from;
}

TEST(manifests, whisper) {
  STENO_REQUIRE_SHARED(shared);
  EXPECT_EQ(differences<steno::whisper::whisper_tiny>(of_whisper(shared, "tiny")), "");
  EXPECT_EQ(differences<steno::whisper::whisper_base>(of_whisper(shared, "base")), "");
  EXPECT_EQ(differences<steno::whisper::whisper_small>(of_whisper(shared, "small")), "");
  EXPECT_EQ(differences<steno::whisper::whisper_medium>(of_whisper(shared, "medium")), "");
  EXPECT_EQ(differences<steno::whisper::whisper_large_v3>(of_whisper(shared, "large-v3")), "");
  EXPECT_EQ(differences<steno::whisper::whisper_large_v3_turbo>(of_whisper(shared, "large-v3-turbo")), "");
  EXPECT_EQ(differences<steno::whisper::whisper_large>(of_whisper(shared, "large-v3", 51865, 80)), "");
  EXPECT_EQ(differences<steno::whisper::whisper_tiny_en>(of_whisper(shared, "tiny", 51864)), "");
  EXPECT_EQ(differences<steno::whisper::whisper_base_en>(of_whisper(shared, "base", 51864)), "");
  EXPECT_EQ(differences<steno::whisper::whisper_small_en>(of_whisper(shared, "small", 51864)), "");
  EXPECT_EQ(differences<steno::whisper::whisper_medium_en>(of_whisper(shared, "medium", 51864)), "");
}

TEST(manifests, another_size_is_noticed) {
  STENO_REQUIRE_SHARED(shared);
  const std::string said = differences<steno::whisper::whisper_base>(of_whisper(shared, "tiny"));
  EXPECT_NE(said.find("\"encoder.conv1.weight\" is [384 x 80 x 3], not [512 x 80 x 3]"), std::string::npos) << said;
  checkpoint_tensors more = of_whisper(shared, "base");
  more.all.push_back({.name = "decoder.extra", .shape = {3}});
  std::erase_if(more.all, [](const stored_tensor& t) { return t.name == "decoder.ln.bias"; });
  const std::string both = differences<steno::whisper::whisper_base>(std::move(more));
  EXPECT_NE(both.find("\"decoder.ln.bias\" is missing"), std::string::npos) << both;
  EXPECT_NE(both.find("\"decoder.extra\" is not part of the model"), std::string::npos) << both;
}

}  // namespace manifests_test
