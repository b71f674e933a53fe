// Parakeet folders of transformers: the original's rows and labels on a compact case, shards, and what is read, noted
// and refused in every JSON file.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/parakeet_folder.hpp"

#include <steno/models/parakeet_ctc.hpp>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "convert/published.hpp"
#include "npy.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>

namespace parakeet_folder_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

json load_json(const fs::path& file) {
  std::ifstream in(file);
  return json::parse(in);
}
void save_json(const fs::path& file, const json& value) { std::ofstream(file) << value.dump(); }

class parakeet_folder : public testing::Test {
 protected:
  parakeet_folder() {
    for (const auto& e : fs::directory_iterator(golden_ / "checkpoint"))
      fs::copy_file(e.path(), at_.path() / e.path().filename());
  }
  fs::path file(const char* name) const { return at_.path() / name; }
  // Sets the value at a JSON pointer of a file; null removes it.
  void change(const char* name, const char* where, const json& value) const {
    json all = load_json(file(name));
    if (value.is_null())
      all[json::json_pointer(where).parent_pointer()].erase(json::json_pointer(where).back());
    else
      all[json::json_pointer(where)] = value;
    save_json(file(name), all);
  }
  void restore(const char* name) const {
    fs::copy_file(golden_ / "checkpoint" / name, file(name), fs::copy_options::overwrite_existing);
  }
  std::string refused() const {
    return test::refusal([&] { (void)import_checkpoint(at_.path()); });
  }

  const fs::path golden_ = test::compact() / "parakeet_folder";
  test::temporary_directory at_;
};

// Weights of a safetensors file in two shards with an index.
void write_shards(const fs::path& folder) {
  const std::string whole = test::read_text(folder / "model.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, whole.data(), 8);
  const json names = json::parse(whole.substr(8, header));
  json map = json::object();
  for (const int shard : {0, 1}) {
    json own = json::object();
    std::string data;
    int number = 0;
    for (const auto& [name, entry] : names.items()) {
      if (name == "__metadata__" || number++ % 2 != shard) continue;
      const auto from = entry["data_offsets"][0].get<std::size_t>(), to = entry["data_offsets"][1].get<std::size_t>();
      own[name] = entry;
      own[name]["data_offsets"] = {data.size(), data.size() + to - from};
      data += whole.substr(8 + header + from, to - from);
      map[name] = "model-0000" + std::to_string(shard + 1) + "-of-00002.safetensors";
    }
    const std::string text = own.dump();
    const std::uint64_t size = text.size();
    std::string out(8, '\0');
    std::memcpy(out.data(), &size, 8);
    test::write_text(folder / ("model-0000" + std::to_string(shard + 1) + "-of-00002.safetensors"), out + text + data);
  }
  save_json(folder / "model.safetensors.index.json", {{"weight_map", map}});
  fs::remove(folder / "model.safetensors");
}

TEST_F(parakeet_folder, rows_and_labels_of_the_original) {
  opened_checkpoint opened = open_checkpoint(at_.path());
  EXPECT_TRUE(opened.notes.empty());
  const auto m = load<nemo::parakeet_ctc_any>(std::move(opened.file));
  const auto relative = [&](const view<const float>& x, const char* name) {
    return test::compare(x, npy::load(golden_ / name)).relative();
  };
  const npy::array given = npy::load(golden_ / "input_features.npy");
  const std::vector<float> features = given.floats();
  context c;
  const extent frames = given.rows() - 1;  // the last one is not valid
  matrix<float, dynamic, dynamic> rows(m.encoder.rows(frames), m.encoder.output_size());
  m.encoder(core::make_view(features.data(), frames, given.cols()), core::write(rows), nullptr,
            nn::fastconformer_env{.window = m.window}, c);
  EXPECT_LE(relative(core::read(rows), "encoder_out.npy"), 1e-4);
  matrix<float, dynamic, dynamic> logits(rows.rows(), m.decoder.output_size());
  m.decoder.multiply(core::read(rows), core::write(logits), c);
  EXPECT_LE(relative(core::read(logits), "logits.npy"), 1e-4);
  std::vector<search::ctc_token> tokens;
  search::ctc_greedy(core::read(logits), m.blank(), tokens);
  std::vector<int> ids;
  for (const search::ctc_token& t : tokens) ids.push_back(t.id);
  EXPECT_EQ(ids, load_json(golden_ / "expected.json").at("token_ids").get<std::vector<int>>());
}

TEST_F(parakeet_folder, weights_in_shards_and_a_file_named_in_the_folder) {
  const auto bytes = [&](const fs::path& from) {
    const fs::path out = at_.path() / "out.gguf";
    convert(from, out);
    return test::read_text(out);
  };
  const std::string whole = bytes(at_.path());
  EXPECT_EQ(bytes(file("model.safetensors")), whole);
  EXPECT_EQ(bytes(file("config.json")), whole);
  write_shards(at_.path());
  EXPECT_EQ(bytes(at_.path()), whole);
}

// The ranks of pairs are scores of pieces, so hotwords are taken apart as SentencePiece does it.
TEST_F(parakeet_folder, labels_are_sentencepieces_again) {
  std::vector<std::string> notes;
  const auto v = nemo_files::read_tokenizer_json(file("tokenizer.json"), 56, notes);
  EXPECT_TRUE(notes.empty());
  ASSERT_EQ(v.pieces.size(), 56u);
  EXPECT_EQ(v.types[0], static_cast<int>(tokenizers::piece_type::unknown));
  EXPECT_EQ(v.types[1], static_cast<int>(tokenizers::piece_type::normal));
  EXPECT_EQ(v.scores[1], 0);
  EXPECT_EQ(v.scores[55], -54);
  EXPECT_TRUE(v.add_dummy_prefix);
  // Pairs as one string each, and a model of unigrams.
  json all = load_json(file("tokenizer.json"));
  for (json& m : all["model"]["merges"]) m = m[0].get<std::string>() + " " + m[1].get<std::string>();
  save_json(file("tokenizer.json"), all);
  EXPECT_EQ(nemo_files::read_tokenizer_json(file("tokenizer.json"), 56, notes).scores, v.scores);
  json list = json::array();
  for (const std::string& piece : v.pieces) list.push_back({piece, -0.5});
  all["model"] = {{"type", "Unigram"}, {"vocab", list}, {"unk_id", 0}};
  save_json(file("tokenizer.json"), all);
  EXPECT_EQ(nemo_files::read_tokenizer_json(file("tokenizer.json"), 56, notes).scores[7], -0.5f);
}

TEST_F(parakeet_folder, what_computes_something_else_is_refused) {
  struct wrong {
    const char *file, *where;
    json value;
    const char* named;
  };
  const wrong all[] = {
      {"config.json", "/model_type", "parakeet_encoder", "model_type"},
      {"config.json", "/vocab_size", 58, "pad_token_id"},
      {"config.json", "/pad_token_id", 0, "pad_token_id"},
      {"config.json", "/encoder_config/hidden_act", "gelu", "hidden_act"},
      {"config.json", "/encoder_config/hidden_size", 33, "hidden_size"},
      {"config.json", "/encoder_config/num_key_value_heads", 2, "num_key_value_heads"},
      {"config.json", "/encoder_config/subsampling_factor", 4, "subsampling_factor"},
      {"config.json", "/encoder_config/conv_kernel_size", 8, "conv_kernel_size"},
      {"config.json", "/encoder_config/num_hidden_layers", 3, "encoder.layers.2"},
      {"config.json", "/encoder_config/intermediate_size", nullptr, "linear1"},
      {"config.json", "/encoder_config/attention_bias", false, "bias"},
      {"config.json", "/encoder_config/att_context_style", "chunked_limited", "att_context_size"},
      {"config.json", "/encoder_config/gain", 2, "encoder_config.gain"},
      {"generation_config.json", "/suppress_tokens", {3}, "suppress_tokens"},
      {"preprocessor_config.json", "/feature_extractor_type", "WhisperFeatureExtractor", "feature_extractor_type"},
      {"preprocessor_config.json", "/feature_size", 80, "feature_size"},
      {"preprocessor_config.json", "/hop_length", 80, "hop_length"},
      {"preprocessor_config.json", "/sampling_rate", 8000, "sampling_rate"},
      {"preprocessor_config.json", "/preemphasis", 2, "preemphasis"},
      {"preprocessor_config.json", "/mel_norm", "slaney", "mel_norm"},
      {"processor_config.json", "/feature_extractor/n_fft", 1024, "n_fft"},
      {"processor_config.json", "/decoder_type", "tdt", "decoder_type"},
      {"tokenizer_config.json", "/do_lower_case", true, "do_lower_case"},
      {"tokenizer.json", "/model/type", "WordPiece", "model.type"},
      {"tokenizer.json", "/model/end_of_word_suffix", "</w>", "end_of_word_suffix"},
      {"tokenizer.json", "/model/vocab/wav", 3, "a number that no other token has"},
      {"tokenizer.json", "/model/vocab/a", nullptr, "a piece for every label"},
      {"tokenizer.json", "/decoder/type", "WordPiece", "decoder.type"},
      {"tokenizer.json", "/model/merges/0", "ab", "merges"},
  };
  for (const wrong& w : all) {
    change(w.file, w.where, w.value);
    EXPECT_NE(refused().find(w.named), std::string::npos) << w.file << w.where << ": " << refused();
    restore(w.file);
  }
  EXPECT_EQ(refused(), "");
}

// Biases of attention and of convolutions may be there apart; a file that has others is refused.
TEST_F(parakeet_folder, biases_are_those_of_the_config) {
  change("config.json", "/encoder_config/convolution_bias", false);
  EXPECT_NE(refused().find("conv.depthwise_conv.bias"), std::string::npos) << refused();
  restore("config.json");
  change("config.json", "/encoder_config/attention_bias", false);
  EXPECT_NE(refused().find("expected none, as attention_bias"), std::string::npos) << refused();
}

// Every tensor of the published sizes, by the names that transformers' converter gives them.
TEST(parakeet_folders, published_sizes) {
  STENO_REQUIRE_SHARED(shared);
  const std::pair<std::string, std::string> parts[] = {{"encoder.pre_encode.conv.", "encoder.subsampling.layers."},
                                                       {"encoder.pre_encode.out.", "encoder.subsampling.linear."},
                                                       {"conv.batch_norm.", "conv.norm."},
                                                       {"decoder.decoder_layers.0.", "ctc_head."},
                                                       {"linear_k", "k_proj"},
                                                       {"linear_v", "v_proj"},
                                                       {"linear_out", "o_proj"},
                                                       {"linear_q", "q_proj"},
                                                       {"pos_bias_", "bias_"},
                                                       {"linear_pos", "relative_k_proj"},
                                                       {"decoder.prediction.embed.", "decoder.embedding."},
                                                       {"decoder.prediction.dec_rnn.lstm.", "decoder.lstm."},
                                                       {"joint.enc.", "encoder_projector."},
                                                       {"joint.pred.", "decoder.decoder_projector."},
                                                       {"joint.joint_net.2.", "joint.head."}};
  const std::pair<std::string, json> models[] = {
      {"parakeet-ctc-0.6b", {{"model_type", "parakeet_ctc"}, {"encoder_config", {{"num_mel_bins", 80}}}}},
      {"parakeet-ctc-1.1b", {{"model_type", "parakeet_ctc"}, {"encoder_config", {{"num_hidden_layers", 42}}}}},
      {"parakeet-tdt-0.6b-v3",
       {{"model_type", "parakeet_tdt"},
        {"encoder_config", {{"num_mel_bins", 128}, {"attention_bias", false}, {"convolution_bias", false}}}}}};
  for (const auto& [name, config] : models) {
    SCOPED_TRACE(name);
    const test::temporary_directory at;
    save_json(at.path() / "config.json", config);
    const json mels = config["encoder_config"].value("num_mel_bins", json(80));
    save_json(at.path() / "preprocessor_config.json", {{"feature_size", mels}});
    const auto s = nemo_files::read_parakeet_folder(at.path());
    tokenizers::sentencepiece_vocabulary pieces;
    pieces.pieces.resize(s.vocabulary, "a");
    pieces.scores.resize(s.vocabulary);
    pieces.types.resize(s.vocabulary, 1);
    imported_model model;
    nemo_files::set_parakeet_keys(model.file, s, pieces);
    checkpoint_tensors from = test::published(shared, "nemo-" + name);
    std::erase_if(from.all, [](const stored_tensor& t) { return t.name.starts_with("preprocessor."); });
    for (stored_tensor& t : from.all)
      for (const auto& [theirs, there] : parts)
        if (const std::size_t i = t.name.find(theirs); i != std::string::npos) t.name.replace(i, theirs.size(), there);
    from.named = nemo_files::transformers_name;
    from.ignored = {".num_batches_tracked"};
    nemo_files::promise_encoder(from, s);
    nemo_files::promise_heads(from, s);
    EXPECT_NO_THROW(take_tensors(model, std::move(from)));
  }
}

// The extractor's own pre-emphasis, or none; one that differs in two files is refused.
TEST_F(parakeet_folder, features_as_the_extractor_makes_them) {
  const auto mel = [&] { return nemo_files::read_parakeet_folder(at_.path()).frontend.mel; };
  EXPECT_EQ(mel().preemphasis, 0.97f);
  change("preprocessor_config.json", "/preemphasis", 0.5);
  EXPECT_NE(refused().find("preemphasis"), std::string::npos);
  change("processor_config.json", "/feature_extractor/preemphasis", 0.5);
  EXPECT_EQ(mel().preemphasis, 0.5f);
  fs::remove(file("preprocessor_config.json"));
  EXPECT_EQ(mel().preemphasis, 0.5f);
  fs::remove(file("processor_config.json"));
  EXPECT_NE(refused().find("preprocessor_config.json"), std::string::npos);  // 40 bands are not the default
}

// Nothing is overlooked: a key that nobody knows, wherever it stands, is a note or an error that names it.
TEST_F(parakeet_folder, any_unknown_key_is_noted_or_refused) {
  test::random_numbers random(23);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random.vector(1, 0, 1)[0] * static_cast<float>(n)) % n;
  };
  for (const char* name : {"config.json", "generation_config.json", "preprocessor_config.json", "processor_config.json",
                           "tokenizer_config.json", "special_tokens_map.json", "tokenizer.json"}) {
    // Every object of the file, but the vocabulary.
    json all = load_json(file(name));
    std::vector<json::json_pointer> objects;
    const std::function<void(const json&, const json::json_pointer&)> collect = [&](const json& j, const auto& at) {
      if (at.to_string() == "/model/vocab") return;
      if (j.is_object()) {
        objects.push_back(at);
        for (const auto& [key, value] : j.items()) collect(value, at / key);
      } else if (j.is_array()) {
        for (std::size_t i = 0; i < j.size(); ++i) collect(j[i], at / i);
      }
    };
    collect(all, json::json_pointer());
    ASSERT_FALSE(objects.empty());
    for (int round = 0; round < 12; ++round) {
      std::string key = "z";
      for (int i = 0; i < 6; ++i) key += static_cast<char>('a' + below(26));
      json changed = all;
      const json::json_pointer& at =
          objects[static_cast<std::size_t>(round) < objects.size() ? static_cast<std::size_t>(round)
                                                                   : below(objects.size())];
      const json values[] = {1, "x", true, json::array({1, 2}), json::object({{"y", 1}}), nullptr};
      changed[at][key] = values[below(std::size(values))];
      save_json(file(name), changed);
      std::string said;
      try {
        for (const std::string& note : import_checkpoint(at_.path()).notes) said += note;
      } catch (const error& e) {
        said = e.what();
      }
      EXPECT_NE(said.find(key), std::string::npos) << name << at.to_string() << " " << key << ": " << said;
    }
    restore(name);
  }
}

}  // namespace parakeet_folder_test
