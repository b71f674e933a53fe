// tools/convert/funasr/sense_voice.cpp - tensors and keys of SenseVoiceSmall; see sense_voice.hpp.
#include "funasr/sense_voice.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <map>

#include "funasr/am_mvn.hpp"

namespace steno::inline STENO_ABI::funasr {

namespace {
constexpr extent query_rows = 7 + 7 + 2;

std::string shape_text(const std::vector<extent>& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s.append(i == 0 ? "" : " x ").append(std::to_string(shape[i]));
  return s + "]";
}
}  // namespace

std::vector<expected_tensor> sense_voice_tensors(const sense_voice_settings& s, std::size_t vocabulary) {
  std::vector<expected_tensor> all;
  const auto input = static_cast<extent>(s.input_size()), d = static_cast<extent>(s.output_size);
  const auto units = static_cast<extent>(s.linear_units), taps = static_cast<extent>(s.kernel_size);
  const auto linear = [&](const std::string& name, extent out, extent in) {
    all.push_back({.name = name + ".weight", .shape = {out, in}, .product = true});
    all.push_back({.name = name + ".bias", .shape = {out}});
  };
  const auto norm = [&](const std::string& name, extent n) {
    all.push_back({.name = name + ".weight", .shape = {n}});
    all.push_back({.name = name + ".bias", .shape = {n}});
  };
  const auto layer = [&](const std::string& name, extent in) {
    norm(name + ".norm1", in);
    linear(name + ".self_attn.linear_q_k_v", 3 * d, in);
    all.push_back({.name = name + ".self_attn.fsmn_block.weight", .shape = {d, 1, taps}, .memory = true});
    linear(name + ".self_attn.linear_out", d, d);
    norm(name + ".norm2", d);
    linear(name + ".feed_forward.w_1", units, d);
    linear(name + ".feed_forward.w_2", d, units);
  };
  all.push_back({.name = "embed.weight", .shape = {query_rows, input}});
  layer("encoder.encoders0.0", input);
  for (std::uint32_t i = 1; i < s.num_blocks; ++i) layer("encoder.encoders." + std::to_string(i - 1), d);
  norm("encoder.after_norm", d);
  for (std::uint32_t i = 0; i < s.tp_blocks; ++i) layer("encoder.tp_encoders." + std::to_string(i), d);
  norm("encoder.tp_norm", d);
  linear("ctc.ctc_lo", static_cast<extent>(vocabulary), d);
  return all;
}

bool is_sense_voice_product(const std::string& name, std::size_t rank) {
  return rank == 2 && name != "embed.weight" && name.ends_with(".weight") &&
         name.find("fsmn_block") == std::string::npos && name.find("norm") == std::string::npos;
}

void check_tensors(const std::vector<expected_tensor>& expected,
                   const std::vector<std::pair<std::string, std::vector<extent>>>& present, const std::string& where) {
  std::vector<std::string> problems;
  std::map<std::string_view, const std::vector<extent>*> there;
  for (const auto& [name, shape] : present) there.emplace(name, &shape);
  for (const expected_tensor& e : expected) {
    const auto found = there.find(e.name);
    if (found == there.end()) {
      problems.push_back(steno::quoted(e.name) + " is missing");
    } else {
      if (*found->second != e.shape)
        problems.push_back(steno::quoted(e.name) + " is " + shape_text(*found->second) + ", not " +
                           shape_text(e.shape));
      there.erase(found);
    }
  }
  for (const auto& [name, shape] : there) problems.push_back(steno::quoted(name) + " is not part of the model");
  if (problems.empty()) return;
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, problems.size()); ++i) text.append(i == 0 ? "" : ", ").append(problems[i]);
  if (problems.size() > most) text += ", and " + std::to_string(problems.size() - most) + " more";
  fail({.where = where, .what = "the tensors are not those of a SenseVoiceSmall of this size: " + text});
}

void set_sense_voice_keys(gguf_writer& file, const sense_voice_settings& s, const sentencepiece_vocabulary& v) {
  file.set("general.architecture", "sense_voice");
  file.set("general.name", "SenseVoiceSmall");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  file.set("sense_voice.encoder.attention_heads", s.attention_heads);
  file.set("sense_voice.encoder.kernel_size", s.kernel_size);
  file.set("sense_voice.encoder.num_blocks", s.num_blocks);
  file.set("sense_voice.encoder.tp_blocks", s.tp_blocks);
  file.set("sense_voice.encoder.output_size", s.output_size);
  file.set("sense_voice.encoder.linear_units", s.linear_units);
  file.set("sense_voice.frontend.sample_rate", s.sample_rate);
  file.set("sense_voice.frontend.window", s.window);
  file.set("sense_voice.frontend.n_mels", s.n_mels);
  file.set("sense_voice.frontend.frame_length", s.frame_length);
  file.set("sense_voice.frontend.frame_shift", s.frame_shift);
  file.set("sense_voice.frontend.lfr_m", s.lfr_m);
  file.set("sense_voice.frontend.lfr_n", s.lfr_n);
  file.set("sense_voice.blank_id", s.blank_id);
  file.set("tokenizer.ggml.model", "sentencepiece");
  file.set("tokenizer.ggml.tokens", v.pieces);
  if (!v.scores.empty()) file.set("tokenizer.ggml.scores", v.scores);
  if (!v.types.empty())
    file.set("tokenizer.ggml.token_type", std::vector<std::int32_t>(v.types.begin(), v.types.end()));
  file.set("tokenizer.ggml.add_space_prefix", v.add_dummy_prefix);
  file.set("tokenizer.ggml.remove_extra_whitespaces", v.remove_extra_whitespaces);
  file.set("tokenizer.ggml.unk_surface", v.unk_surface);
}

void add_cmvn(imported_model& model, const std::filesystem::path& path, std::size_t input_size) {
  am_mvn m = read_am_mvn(path.string());
  if (m.shift.size() != input_size)
    fail({.where = path.string(),
          .what = "length of the vectors",
          .expected = std::to_string(input_size) + " as the model's input",
          .found = std::to_string(m.shift.size())});
  std::erase_if(model.tensors, [](const imported_tensor& t) { return t.name.starts_with("cmvn."); });
  const auto add = [&](const char* name, std::vector<float> values) {
    const auto n = static_cast<extent>(values.size());
    model.tensors.push_back({.name = name, .shape = {n}, .read = [values = std::move(values)](std::span<float> out) {
                               std::copy(values.begin(), values.end(), out.begin());
                             }});
  };
  add("cmvn.shift", std::move(m.shift));
  add("cmvn.scale", std::move(m.scale));
}

}  // namespace steno::inline STENO_ABI::funasr
