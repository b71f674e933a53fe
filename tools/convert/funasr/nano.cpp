// tools/convert/funasr/nano.cpp - see nano.hpp.
#include "funasr/nano.hpp"

#include <steno/error.hpp>
#include <steno/models/fun_asr_nano.hpp>

#include "funasr/tensors.hpp"
#include "limits.hpp"
#include "qwen/qwen3_asr.hpp"
#include "torch/tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace fs = std::filesystem;

namespace {

struct adaptor_settings {
  std::uint32_t rate = 1, input = 512, units = 2048, output = 1024, heads = 8, layers = 2;
};

adaptor_settings read_adaptor(const folder& f, const std::string& at) {
  adaptor_settings s;
  const auto number = [&](const char* key, std::uint32_t& value, std::uint32_t min, std::uint32_t max = 65536) {
    value = f.number(at + key, value, min, max);
  };
  number(".downsample_rate", s.rate, 1);
  number(".encoder_dim", s.input, 1);
  number(".ffn_dim", s.units, 1);
  number(".llm_dim", s.output, 4);
  number(".attention_heads", s.heads, 1);
  number(".n_layer", s.layers, 0, limits::layers);
  return s;
}

void promise(checkpoint_tensors& from, const std::string& at, const adaptor_settings& s) {
  const auto in = static_cast<extent>(s.input) * static_cast<extent>(s.rate), d = static_cast<extent>(s.output);
  const auto units = static_cast<extent>(s.units);
  from.sizes.push_back({at + ".linear1.weight", units, in});
  from.sizes.push_back({at + ".linear2.weight", d, units});
  from.sizes.push_back({at + ".blocks.*.w_1.weight", d / 4, d});
  from.counts.push_back({at + ".blocks", static_cast<extent>(s.layers)});
}

// A language model that shares its embedding says so by storing it twice, or once.
bool is_tied(torch::checkpoint& c) {
  const auto *head = c.find("llm.lm_head.weight"), *table = c.find("llm.model.embed_tokens.weight");
  if (head == nullptr) return true;
  if (table == nullptr || head->shape != table->shape || head->type != table->type) return false;
  const std::size_t size = static_cast<std::size_t>(head->count) * torch::size_of_scalar(head->type);
  std::vector<std::byte> a(size), b(size);
  c.read_bytes(*head, a);
  c.read_bytes(*table, b);
  return a == b;
}

}  // namespace

void walk_nano(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::fun_asr_nano_any>(keys, taker); }

imported_model import_nano(const folder& f, const std::optional<fs::path>& cmvn) {
  if (cmvn || f.cmvn) fail({.where = f.config.string(), .what = "a CMVN file: Fun-ASR-Nano's features have none"});
  f.require("audio_encoder", "SenseVoiceEncoderSmall");
  f.require("audio_encoder_conf.input_layer", "pe");
  f.require("audio_encoder_conf.normalize_before", "true");
  f.require("audio_encoder_conf.sanm_shfit", "0");
  f.require("audio_encoder_conf.selfattention_layer_type", "sanm");
  f.require("audio_adaptor", "Transformer");
  f.require("frontend", "WavFrontend");
  constexpr std::uint32_t wide = 65536, deep = limits::layers;
  const auto encoder = [&](const char* key, std::uint32_t otherwise, std::uint32_t min, std::uint32_t max) {
    return f.number(std::string("audio_encoder_conf.") + key, otherwise, min, max);
  };
  const std::uint32_t d = encoder("output_size", 512, 1, wide), heads = encoder("attention_heads", 4, 1, 1024);
  const std::uint32_t units = encoder("linear_units", 2048, 1, wide), blocks = encoder("num_blocks", 50, 1, deep);
  const std::uint32_t tp = encoder("tp_blocks", 20, 0, deep), taps = encoder("kernel_size", 11, 1, 1023);
  const auto front = [&](const char* key, std::uint32_t otherwise, std::uint32_t max) {
    return f.number(std::string("frontend_conf.") + key, otherwise, 1, max);
  };
  const std::uint32_t mels = front("n_mels", 80, 1024), m = front("lfr_m", 7, 64), n = front("lfr_n", 6, 64);
  const adaptor_settings adaptor = read_adaptor(f, "audio_adaptor_conf");
  const bool ctc = f.has("ctc_decoder");
  if (ctc) f.require("ctc_decoder", "Transformer");
  const std::uint32_t labels = f.number("ctc_vocab_size", 60515, 2, 1u << 24);

  const fs::path name(f.text("llm_conf.init_param_path", "Qwen3-0.6B"));
  const fs::path model_folder = f.config.parent_path() / name.filename();
  const qwen_files::decoder_settings llm = qwen_files::read_decoder_config(model_folder / "config.json");

  imported_model model;
  weights::gguf_writer& file = model.file;
  file.set("general.architecture", "fun_asr_nano");
  file.set("general.name", "Fun-ASR-Nano");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  const auto set = [&](const char* key, std::uint32_t value) {
    file.set(std::string("fun_asr_nano.").append(key), value);
  };
  set("audio_encoder.output_size", d);
  set("audio_encoder.attention_heads", heads);
  set("audio_encoder.kernel_size", taps);
  set("audio_adaptor.attention_heads", adaptor.heads);
  set("audio_adaptor.downsample_rate", adaptor.rate);
  set("llm.rope_theta", llm.theta);
  set("use_low_frame_rate", f.text("audio_adaptor_conf.use_low_frame_rate", "false") == "true" ? 1 : 0);
  set("do_think", f.text("dataset_conf.do_think", "true") == "false" ? 0 : 1);
  set("frontend.sample_rate", front("fs", 16000, 384000));
  set("frontend.n_mels", mels);
  set("frontend.frame_length", front("frame_length", 25, 1000));
  set("frontend.frame_shift", front("frame_shift", 10, 1000));
  set("frontend.lfr_m", m);
  set("frontend.lfr_n", n);
  file.set("fun_asr_nano.frontend.window", f.text("frontend_conf.window", "hamming"));
  if (const auto ends = qwen_files::read_ends(model_folder / "config.json"); !ends.empty())
    file.set("fun_asr_nano.eos_ids", ends);
  qwen_files::add_tokenizer(file, model_folder, llm.vocabulary);

  const auto checkpoint = std::make_shared<torch::checkpoint>(f.weights);
  checkpoint_tensors from{.where = f.weights.string(), .all = torch::stored_tensors(checkpoint)};
  model.where = from.where;
  promise_sanm(from, "audio_encoder.", {mels * m, d, units, taps, blocks, tp});
  promise(from, "audio_adaptor", adaptor);
  if (ctc) {
    const adaptor_settings s = read_adaptor(f, "ctc_decoder_conf");
    set("ctc_decoder.attention_heads", s.heads);
    set("ctc_decoder.downsample_rate", s.rate);
    promise(from, "ctc_decoder", s);
    from.sizes.push_back({"ctc.ctc_lo.weight", static_cast<extent>(labels), static_cast<extent>(s.output)});
  }
  const bool tied = is_tied(*checkpoint);
  if (tied) std::erase_if(from.all, [](const stored_tensor& t) { return t.name == "llm.lm_head.weight"; });
  qwen_files::promise(from, "llm.", llm, !tied);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
