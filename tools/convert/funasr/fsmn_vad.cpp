// tools/convert/funasr/fsmn_vad.cpp - see fsmn_vad.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/fsmn_vad.hpp"

#include <steno/error.hpp>
#include <steno/models/fsmn_vad.hpp>

#include <utility>

#include "funasr/am_mvn.hpp"
#include "funasr/folder.hpp"
#include "limits.hpp"
#include "torch/tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

void set_keys(weights::gguf_writer& file, const fsmn_vad_settings& s) {
  file.set("general.architecture", "fsmn_vad");
  file.set("general.name", "FSMN-VAD");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  set_frontend_keys(file, "fsmn_vad.", s.frontend);
  for (const auto& [name, value] : s.post) file.set("fsmn_vad.post." + name, static_cast<float>(value));
}

constexpr std::string_view unread = "FunASR keeps it and does not read it";
constexpr unused_setting unused_by_vad[] = {
    {"model_conf.do_start_point_detection", unread},
    {"model_conf.do_end_point_detection", unread},
    {"model_conf.dcd_block_size", unread},
    {"model_conf.nn_eval_block_size", "set anew for every call"},
    {"model_conf.output_frame_probs", "keeps the scores for a caller"},
    {"model_conf.speech_noise_thresh_low", unread},
    {"model_conf.speech_noise_thresh_high", unread},
    {"encoder_conf.rstride", "there are no taps behind a frame"},
};

fsmn_vad_settings settings_of(const published_keys& keys) {
  fsmn_vad_settings s;
  const auto read = [&](const char* key, std::uint32_t& value, std::uint32_t max) { value = keys.number(key, 1, max); };
  read("vad.input_affine_dim", s.input_affine_dim, 65536);
  read("vad.linear_dim", s.linear_dim, 65536);
  read("vad.proj_dim", s.proj_dim, 65536);
  read("vad.fsmn_layers", s.fsmn_layers, limits::layers);
  read("vad.lorder", s.lorder, 1024);
  read("vad.output_affine_dim", s.output_affine_dim, 65536);
  read("vad.output_dim", s.output_dim, 65536);
  read("vad.n_mels", s.frontend.n_mels, 1024);
  read("vad.lfr_m", s.frontend.lfr_m, 64);
  read("vad.lfr_n", s.frontend.lfr_n, 64);
  (void)keys.number("vad.input_dim", s.frontend.width(), s.frontend.width());
  return s;
}

void promise(checkpoint_tensors& from, const fsmn_vad_settings& s) {
  const auto weight = [&](const char* names, std::uint32_t out, std::uint32_t in) {
    from.sizes.push_back({names, static_cast<extent>(out), static_cast<extent>(in)});
  };
  weight("encoder.in_linear1.linear.weight", s.input_affine_dim, s.frontend.width());
  weight("encoder.in_linear2.linear.weight", s.linear_dim, s.input_affine_dim);
  weight("encoder.fsmn.*.fsmn_block.conv_left.weight", s.lorder, s.proj_dim);
  weight("encoder.fsmn.*.affine.linear.weight", s.linear_dim, s.proj_dim);
  weight("encoder.out_linear1.linear.weight", s.output_affine_dim, s.linear_dim);
  weight("encoder.out_linear2.linear.weight", s.output_dim, s.output_affine_dim);
  from.counts.push_back({"encoder.fsmn", static_cast<extent>(s.fsmn_layers)});
}

}  // namespace

fsmn_vad_settings read_fsmn_vad_settings(const folder& f, std::vector<std::string>& notes) {
  fsmn_vad_settings s;
  const auto read = [&](const char* key, std::uint32_t& value, std::uint32_t max) {
    value = f.number(key, value, 1, max);
  };
  read("encoder_conf.input_affine_dim", s.input_affine_dim, 65536);
  read("encoder_conf.linear_dim", s.linear_dim, 65536);
  read("encoder_conf.proj_dim", s.proj_dim, 65536);
  read("encoder_conf.fsmn_layers", s.fsmn_layers, limits::layers);
  read("encoder_conf.lorder", s.lorder, 1024);
  read("encoder_conf.output_affine_dim", s.output_affine_dim, 65536);
  read("encoder_conf.output_dim", s.output_dim, 65536);
  s.frontend = read_frontend(f, s.frontend);
  const auto post = [&](const char* name, double low, double high) {
    const std::string key = std::string("model_conf.") + name;
    if (f.has(key)) s.post[name] = f.real(key, 0, low, high);
  };
  for (const char* name :
       {"max_end_silence_time", "max_start_silence_time", "window_size_ms", "sil_to_speech_time_thres",
        "speech_to_sil_time_thres", "lookback_time_start_point", "lookahead_time_end_point", "max_single_segment_time"})
    post(name, 0, 1e9);
  post("detect_mode", 0, 1);
  post("do_extend", 0, 1);
  post("speech_noise_thres", -1, 1);
  post("speech_2_noise_ratio", 0, 1e6);
  post("snr_thres", -1e6, 1e6);
  post("decibel_thres", -1e6, 1e6);
  post("noise_frame_num_used_for_snr", 1, 1e9);
  // Other values of these exist in FunASR and compute something else.
  f.require("encoder", "FSMN");
  f.require("encoder_conf.input_dim", std::to_string(s.frontend.width()));
  f.require("encoder_conf.rorder", "0");
  f.require("encoder_conf.lstride", "1");
  f.require("encoder_conf.use_softmax", "true");
  f.require("model_conf.snr_mode", "0");
  f.require("model_conf.silence_pdf_num", "1");
  if (f.numbers("model_conf.sil_pdf_ids", {0}, 0, 65535) != std::vector<int>{0})
    fail({.where = f.config.string(), .what = "model_conf.sil_pdf_ids is not supported", .expected = "[0]"});
  f.real("model_conf.fe_prior_thres", 1e-4, -1e6, 0.999);  // from 1 on nothing is speech
  if (f.text("frontend", "WavFrontend") != "WavFrontendOnline") require_frontend(f, "WavFrontend");
  f.require("model_conf.sample_rate", static_cast<double>(s.frontend.sample_rate));
  f.require("model_conf.frame_in_ms", std::to_string(s.frontend.frame_shift));
  f.require("model_conf.frame_length_ms", std::to_string(s.frontend.frame_length));
  check_settings(f, unused_by_vad, notes);
  return s;
}

void walk_fsmn_vad(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::fsmn_vad_any>(keys, taker); }

imported_model import_fsmn_vad(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  imported_model model;
  const fsmn_vad_settings s = read_fsmn_vad_settings(f, model.notes);
  set_keys(model.file, s);
  checkpoint_tensors from = torch::open_tensors(f.weights);
  model.where = from.where;
  promise(from, s);
  take_tensors(model, std::move(from));
  take_cmvn(model, f, cmvn);
  return model;
}

imported_model import_published_fsmn_vad(const std::shared_ptr<gguf_file>& file) {
  const published_keys keys(*file);
  const fsmn_vad_settings s = settings_of(keys);
  imported_model model;
  keys.check("vad.", {}, model.notes);
  model.where = file->where();
  model.source = file;
  set_keys(model.file, s);
  checkpoint_tensors from = all_tensors(*file);
  from.compared = checkpoint_tensors::shapes::taps_kept;
  promise(from, s);
  for (const char* name : {"cmvn.shift", "cmvn.scale"})  // these files have them, and usable ones
    from.sizes.push_back({name, dynamic, static_cast<extent>(s.frontend.width())});
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
