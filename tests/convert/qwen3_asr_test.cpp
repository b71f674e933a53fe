// Folders of Qwen3-ASR: other names of tensors, other files of the tokenizer, and what is refused.
#include <steno/weights/gguf.hpp>

#include "convert/convert.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

namespace {

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_text(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

/// A copy of the small model's folder.
struct copied {
  explicit copied(const fs::path& shared) : at(scratch.path() / "checkpoint") {
    fs::copy(shared / "golden/qwen3_asr/qwen3-asr-0.6b/checkpoint", at);
    fs::permissions(at, fs::perms::owner_all);
    for (const auto& e : fs::directory_iterator(at)) fs::permissions(e.path(), fs::perms::owner_all);
  }
  void change(const char* file, const std::function<void(json&)>& how) const {
    json j = json::parse(text_of(at / file));
    how(j);
    write_text(at / file, j.dump());
  }
  /// Gives the tensors other names; an empty one takes the tensor away.
  void rename(const std::function<std::string(std::string)>& name) const {
    const std::string all = text_of(at / "model.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, all.data(), 8);
    const auto old = static_cast<std::size_t>(length);
    const json header = json::parse(all.substr(8, old));
    json made;
    for (const auto& [key, value] : header.items())
      if (const std::string to = key == "__metadata__" ? key : name(key); !to.empty()) made[to] = value;
    const std::string text = made.dump();
    length = text.size();
    std::string head(8, '\0');
    std::memcpy(head.data(), &length, 8);
    write_text(at / "model.safetensors", head + text + all.substr(8 + old));
  }
  gguf_file packed() const {
    const fs::path file = scratch.path() / "model.gguf";
    convert(at, file, {});
    return gguf_file(file.string());
  }
  std::string refusal() const {
    try {
      (void)packed();
    } catch (const error& e) {
      return e.what();
    }
    return "";
  }

  test::temporary_directory scratch;
  fs::path at;
};

std::vector<std::string> names_of(const gguf_file& f) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < f.size(); ++i) names.emplace_back(f.tensor(i).name);
  return names;
}

}  // namespace

TEST(qwen3_asr_folder, names_of_tensors_may_differ) {
  STENO_REQUIRE_SHARED(shared);
  const copied plain(shared), bare(shared), native(shared);
  const gguf_file want = plain.packed();
  EXPECT_EQ(want.text("general.architecture"), "qwen3_asr");
  EXPECT_FALSE(want.find("thinker.lm_head.weight")) << "it equals the embedding";
  ASSERT_TRUE(want.find("thinker.model.embed_tokens.weight"));
  EXPECT_EQ(want.find("thinker.model.embed_tokens.weight")->format, dtype::bf16) << "kept as it is stored";
  bare.rename([](const std::string& n) { return n.substr(8); });
  EXPECT_EQ(names_of(bare.packed()), names_of(want));
  native.rename([](std::string n) {
    n = n.substr(8);
    if (n.starts_with("model.")) return "model.language_model." + n.substr(6);
    if (n.starts_with("audio_tower.")) return "model." + n;
    return n;
  });
  EXPECT_EQ(names_of(native.packed()), names_of(want));
}

TEST(qwen3_asr_folder, a_tokenizer_json_says_the_same) {
  STENO_REQUIRE_SHARED(shared);
  const copied own(shared), whole(shared);
  const gguf_file want = own.packed();
  const json config = json::parse(text_of(whole.at / "tokenizer_config.json"));
  json j;
  j["model"]["vocab"] = json::parse(text_of(whole.at / "vocab.json"));
  j["model"]["merges"] = json::array();
  std::istringstream merges(text_of(whole.at / "merges.txt"));
  for (std::string line; std::getline(merges, line);)
    if (!line.empty() && !line.starts_with("#version")) j["model"]["merges"].push_back(line);
  for (const auto& [id, entry] : config["added_tokens_decoder"].items())
    j["added_tokens"].push_back({{"id", std::stoul(id)}, {"content", entry["content"]}, {"special", entry["special"]}});
  write_text(whole.at / "tokenizer.json", j.dump());
  for (const char* gone : {"vocab.json", "merges.txt", "tokenizer_config.json"}) fs::remove(whole.at / gone);
  const gguf_file found = whole.packed();
  EXPECT_EQ(found.strings("tokenizer.ggml.tokens"), want.strings("tokenizer.ggml.tokens"));
  EXPECT_EQ(found.numbers("tokenizer.ggml.token_type"), want.numbers("tokenizer.ggml.token_type"));
}

TEST(qwen3_asr_folder, what_does_not_fit_is_refused_by_name) {
  STENO_REQUIRE_SHARED(shared);
  const auto contains = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << " has no " << part;
  };
  const copied missing(shared), eps(shared), merges(shared), tall(shared), gone(shared);
  missing.rename([](std::string n) { return n == "thinker.audio_tower.ln_post.bias" ? "" : n; });
  contains(missing.refusal(), "\"thinker.audio_tower.ln_post.bias\" is missing");
  eps.change("config.json", [](json& j) { j["thinker_config"]["text_config"]["rms_norm_eps"] = 1e-5; });
  contains(eps.refusal(), "rms_norm_eps");
  write_text(merges.at / "merges.txt", "g e\na n\n");
  contains(merges.refusal(), "merge \"a n\"");
  tall.change("config.json", [](json& j) { j["thinker_config"]["text_config"]["vocab_size"] = 480; });
  contains(tall.refusal(), "at most the 480 rows");
  fs::remove(gone.at / "vocab.json");
  contains(gone.refusal(), "holds no tokenizer");
}
