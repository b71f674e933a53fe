// tools/convert/whisper/package.cpp - keys and tensors of the packaged file; see whisper.hpp.
#include <steno/error.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <map>

#include "limits.hpp"
#include "whisper/whisper.hpp"

namespace steno::inline STENO_ABI::whisper_files {

namespace {

struct expected {
  std::string name;
  std::vector<extent> shape;
  bool product = false;
};

std::vector<expected> tensors_of(const settings& s) {
  const auto d = static_cast<extent>(s.width);
  std::vector<expected> all;
  const auto vector = [&](const std::string& name, extent n) { all.push_back({name, {n}}); };
  const auto matrix = [&](const std::string& name, extent out, extent in) { all.push_back({name, {out, in}, true}); };
  const auto norm = [&](const std::string& name) {
    vector(name + ".weight", d);
    vector(name + ".bias", d);
  };
  const auto linear = [&](const std::string& name, extent out, extent in) {
    matrix(name + ".weight", out, in);
    vector(name + ".bias", out);
  };
  const auto attention = [&](const std::string& name) {
    linear(name + ".query", d, d);
    matrix(name + ".key.weight", d, d);
    linear(name + ".value", d, d);
    linear(name + ".out", d, d);
  };
  const auto block = [&](const std::string& name, bool cross) {
    attention(name + ".attn");
    norm(name + ".attn_ln");
    if (cross) attention(name + ".cross_attn");
    if (cross) norm(name + ".cross_attn_ln");
    linear(name + ".mlp.0", 4 * d, d);
    linear(name + ".mlp.2", d, 4 * d);
    norm(name + ".mlp_ln");
  };
  all.push_back({"encoder.positional_embedding", {static_cast<extent>(s.audio_context), d}});
  all.push_back({"encoder.conv1.weight", {d, static_cast<extent>(s.mels), 3}, true});
  vector("encoder.conv1.bias", d);
  all.push_back({"encoder.conv2.weight", {d, d, 3}, true});
  vector("encoder.conv2.bias", d);
  for (std::uint32_t i = 0; i < s.audio_layers; ++i) block("encoder.blocks." + std::to_string(i), false);
  norm("encoder.ln_post");
  all.push_back({"decoder.positional_embedding", {static_cast<extent>(s.text_context), d}});
  matrix("decoder.token_embedding.weight", static_cast<extent>(s.vocabulary), d);
  for (std::uint32_t i = 0; i < s.text_layers; ++i) block("decoder.blocks." + std::to_string(i), true);
  norm("decoder.ln");
  return all;
}

std::string shape_text(const std::vector<extent>& shape) {
  std::string s = "[";
  for (const extent n : shape) s.append(s.size() == 1 ? "" : " x ").append(std::to_string(n));
  return s + "]";
}

// The original counts a bias of [d] and one of [1 x d] or [d x 1] as the same.
bool same_shape(const std::vector<extent>& found, const std::vector<extent>& wanted) {
  if (found == wanted) return true;
  if (wanted.size() != 1) return false;
  extent n = 1;
  for (const extent e : found) n *= e;
  return n == wanted[0] && std::find(found.begin(), found.end(), n) != found.end();
}

// [out, in, tap] -> [out, tap, in]
void taps_first(std::span<float> values, extent out, extent in, extent taps) {
  std::vector<float> row(static_cast<std::size_t>(in * taps));
  for (extent o = 0; o < out; ++o) {
    float* const at = values.data() + o * in * taps;
    for (extent i = 0; i < in; ++i)
      for (extent k = 0; k < taps; ++k) row[static_cast<std::size_t>(k * in + i)] = at[i * taps + k];
    std::copy(row.begin(), row.end(), at);
  }
}

std::string size_name(const settings& s) {
  if (s.audio_layers == 32 && s.text_layers == 4) return "large-v3-turbo";
  const std::string distil = s.text_layers < s.audio_layers ? "distil-" : "";
  if (s.audio_layers == 4) return distil + "tiny";
  if (s.audio_layers == 6) return distil + "base";
  if (s.audio_layers == 12) return distil + "small";
  if (s.audio_layers == 24) return distil + "medium";
  return s.audio_layers == 32 ? distil + "large" : "";
}

void check(const std::string& where, const settings& s) {
  const auto in = [&](const char* what, std::uint32_t n, std::uint32_t low, std::uint32_t high) {
    if (n < low || n > high)
      fail({.where = where,
            .what = what,
            .expected = std::to_string(low) + " to " + std::to_string(high),
            .found = std::to_string(n)});
  };
  in("number of mel bands", s.mels, 80, 128);
  if (s.text == 0) in("vocabulary", s.vocabulary, 51864, 51866);
  in("width", s.width, 1, 16384);
  in("audio positions", s.audio_context, 1, 65536);
  in("text positions", s.text_context, 8, 65536);
  in("attention heads of the encoder", s.audio_heads, 1, s.width);
  in("attention heads of the decoder", s.text_heads, 1, s.width);
  in("layers of the encoder", s.audio_layers, 1, limits::layers);
  in("layers of the decoder", s.text_layers, 1, limits::layers);
  for (const auto& [layer, head] : s.alignment_heads)
    if (layer >= s.text_layers || head >= s.text_heads)
      fail({.where = where, .what = "alignment heads name a head that the decoder does not have"});
}

}  // namespace

std::uint32_t text_tokens(std::uint32_t vocabulary) {
  if (vocabulary < 51864 || vocabulary > 51866) return 0;
  return vocabulary >= 51865 ? 50257 : 50256;
}

std::uint32_t text_tokens(const settings& s) { return s.text > 0 ? s.text : text_tokens(s.vocabulary); }

bool is_product(const std::string& name, std::size_t rank) { return rank == 2 && name.ends_with(".weight"); }

imported_model package(std::string where, const settings& s, std::vector<std::string> tokens,
                       std::vector<stored_tensor> tensors, std::shared_ptr<void> source) {
  check(where, s);
  if (tokens.size() != text_tokens(s))
    fail({.where = where,
          .what = "number of text tokens",
          .expected = std::to_string(text_tokens(s)),
          .found = std::to_string(tokens.size())});
  imported_model model;
  model.where = std::move(where);
  model.source = std::move(source);
  gguf_writer& file = model.file;
  const std::string size = size_name(s);
  file.set("general.architecture", "whisper");
  file.set("general.name", "Whisper" + (size.empty() ? "" : " " + size) + (s.vocabulary == 51864 ? ".en" : ""));
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  file.set("whisper.encoder.attention_heads", s.audio_heads);
  file.set("whisper.decoder.attention_heads", s.text_heads);
  file.set("whisper.frontend.n_mels", s.mels);
  // A folder of Hugging Face's has the size in its own name.
  const std::filesystem::path path = model.where;
  const std::string names = path.parent_path().filename().string() + "/" + path.filename().string();
  const auto heads = s.alignment_heads.empty() ? published_alignment_heads(s, names) : s.alignment_heads;
  if (!heads.empty()) {
    std::vector<std::uint32_t> flat;
    for (const auto& [layer, head] : heads) flat.insert(flat.end(), {layer, head});
    file.set("whisper.alignment_heads", flat);
  }
  if (s.text > 0) file.set("whisper.multilingual", s.multilingual);
  file.set("tokenizer.ggml.model", "gpt2");
  file.set("tokenizer.ggml.tokens", tokens);

  std::map<std::string, stored_tensor*> found;
  for (stored_tensor& t : tensors)
    if (!found.emplace(t.name, &t).second)
      fail({.where = model.where, .what = "tensor " + steno::quoted(t.name) + " is there twice"});
  std::string problems;
  std::size_t count = 0;
  const auto note = [&](const std::string& what) {
    if (++count <= 8) problems.append(problems.empty() ? "" : ", ").append(what);
  };
  bool widened = false;
  for (const expected& e : tensors_of(s)) {
    const auto at = found.find(e.name);
    if (at == found.end()) {
      note(steno::quoted(e.name) + " is missing");
      continue;
    }
    stored_tensor& t = *at->second;
    found.erase(at);
    if (!same_shape(t.shape, e.shape)) {
      note(steno::quoted(e.name) + " is " + shape_text(t.shape) + ", not " + shape_text(e.shape));
      continue;
    }
    imported_tensor made{.name = e.name, .shape = e.shape, .stored = t.stored, .product = e.product};
    made.bytes = t.bytes;
    made.read = t.read;
    if (e.shape.size() == 3) {
      const extent out = e.shape[0], in = e.shape[1], taps = e.shape[2];
      made.shape = {out, in * taps};
      made.bytes = {};
      made.read = [read = t.read, out, in, taps](std::span<float> values) {
        read(values);
        taps_first(values, out, in, taps);
      };
    }
    if (e.product && !kernels::has_product(made.stored)) {
      made.stored = dtype::f16;
      made.bytes = {};
      widened = true;
    }
    model.tensors.push_back(std::move(made));
  }
  for (const auto& [name, t] : found) note(steno::quoted(name) + " is not part of the model");
  if (count > 8) problems += ", and " + std::to_string(count - 8) + " more";
  if (count > 0) fail({.where = model.where, .what = "the tensors are not those of the settings: " + problems});
  if (widened) model.notes.push_back(model.where + ": weights in formats without a product are kept as f16");
  return model;
}

}  // namespace steno::inline STENO_ABI::whisper_files
