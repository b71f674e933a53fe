// tools/convert/nemo/tokenizers.cpp - see tokenizers.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/tokenizers.hpp"

#include <steno/error.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>

#include <utility>

#include "limits.hpp"
#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace fs = std::filesystem;

namespace {

// AggregateTokenizer: the pieces of all languages one behind another. Its ids_to_text joins them and writes a space for
// each U+2581, "<unk>" and control pieces as they are: nothing is stripped and no byte is put together.
tokenizers::sentencepiece_vocabulary read_aggregate(const nemo_archive& archive, const tokenizer_settings& s,
                                                    std::vector<nemo::canary_part>* parts) {
  tokenizers::sentencepiece_vocabulary all;
  std::size_t bytes = 0;  // a config can name one member for thousands of languages
  for (std::size_t i = 0; i < s.pieces.size(); ++i) {
    if (s.pieces[i].empty())
      fail({.where = archive.config.source,
            .what = "tokenizer.langs." + s.languages[i] + ".model_path",
            .expected = "a member of the archive",
            .found = "none"});
    const tar_member& m = archive.need(utf8_path(s.pieces[i]).filename().string());
    bytes += m.bytes.size();
    if (bytes > limits::text_bytes)
      fail({.where = archive.where,
            .what = "bytes of the tokenizers that tokenizer.langs names",
            .expected = "up to " + std::to_string(limits::text_bytes),
            .found = "more"});
    const auto v = tokenizers::read_sentencepiece_model(m.bytes, archive.where + ": " + m.name);
    if (parts != nullptr)
      parts->push_back({s.languages[i], static_cast<int>(all.pieces.size()), static_cast<int>(v.pieces.size()),
                        v.add_dummy_prefix, v.remove_extra_whitespaces});
    all.pieces.insert(all.pieces.end(), v.pieces.begin(), v.pieces.end());
    all.scores.insert(all.scores.end(), v.scores.begin(), v.scores.end());
  }
  all.types.assign(all.pieces.size(), static_cast<int>(tokenizers::piece_type::user_defined));
  all.add_dummy_prefix = all.remove_extra_whitespaces = false;
  return all;
}

tokenizers::sentencepiece_vocabulary read_one(const nemo_archive& archive, const tokenizer_settings& s) {
  const tar_member* m = archive.find(utf8_path(s.pieces.front()).filename().string());
  for (const tar_member& other : archive.archive.members())
    if (m == nullptr && other.name.ends_with("tokenizer.model")) m = &other;
  if (m == nullptr) (void)archive.need("tokenizer.model");
  return tokenizers::read_sentencepiece_model(m->bytes, archive.where + ": " + m->name);
}

}  // namespace

void read_tokenizer(const checkpoint_settings& f, tokenizer_settings& s) {
  std::vector<std::string> places{"tokenizer."};
  s.aggregate = f.text("tokenizer.type", "bpe") == "agg";
  if (s.aggregate) {
    places.clear();
    const auto languages = f.maps.find("tokenizer.langs");
    if (languages == f.maps.end())
      fail({.where = f.source, .what = "tokenizer.langs", .expected = "a tokenizer for each language"});
    s.languages = languages->second;
    for (const std::string& name : s.languages) places.push_back("tokenizer.langs." + name + ".");
  }
  for (const std::string& section : places) {
    f.require(section + "type", "bpe");
    std::string name = f.text(section + "model_path", "");
    if (name.starts_with("nemo:")) name.erase(0, 5);
    s.pieces.push_back(std::move(name));
  }
}

tokenizers::sentencepiece_vocabulary read_pieces(const nemo_archive& archive, const tokenizer_settings& s,
                                                 std::vector<nemo::canary_part>* parts) {
  const checkpoint_settings& config = archive.config;
  tokenizers::sentencepiece_vocabulary v = s.aggregate ? read_aggregate(archive, s, parts) : read_one(archive, s);
  for (const char* key : {"labels", "joint.vocabulary", "decoder.vocabulary"}) {
    const auto labels = config.lists.find(key);
    if (labels == config.lists.end() || labels->second.size() <= v.pieces.size()) continue;
    if (labels->second.size() > v.pieces.size() + 1024)
      fail({.where = archive.where, .what = std::string(key) + " has many more entries than the tokenizer"});
    for (std::size_t i = v.pieces.size(); i < labels->second.size(); ++i) {
      v.pieces.push_back(labels->second[i]);
      v.scores.push_back(0);
      v.types.push_back(static_cast<int>(tokenizers::piece_type::user_defined));
    }
    break;
  }
  return v;
}

void set_tokenizer_keys(weights::gguf_writer& file, const tokenizers::sentencepiece_vocabulary& v) {
  file.set("tokenizer.ggml.model", "sentencepiece");
  file.set("tokenizer.ggml.tokens", v.pieces);
  file.set("tokenizer.ggml.scores", v.scores);
  file.set("tokenizer.ggml.token_type", std::vector<std::int32_t>(v.types.begin(), v.types.end()));
  file.set("tokenizer.ggml.add_space_prefix", v.add_dummy_prefix);
  file.set("tokenizer.ggml.remove_extra_whitespaces", v.remove_extra_whitespaces);
  file.set("tokenizer.ggml.unk_surface", v.unk_surface);
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
