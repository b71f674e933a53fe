// tools/convert/funasr/paraformer_gguf.cpp - Paraformer from the GGUF file that FunASR publishes (general.architecture
// "paraformer", keys pf.*; runtime/llama.cpp of FunASR); see paraformer.hpp.
//
// Its numbers are those of the published sizes; sizes that tensors show are taken from them. The convolution is stored
// as [out, in, tap] and becomes the packaged matrix.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include <algorithm>
#include <utility>

#include "funasr/paraformer.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

std::uint32_t rows_of(const gguf_file& file, const char* name, std::uint32_t otherwise) {
  const auto t = file.find(name);
  return t ? static_cast<std::uint32_t>(std::clamp<extent>(t->shape[0], 1, 65536)) : otherwise;
}

paraformer_settings paraformer_settings_of(const gguf_file& file, const published_keys& keys) {
  paraformer_settings s;
  s.output_size = keys.number("pf.enc.output_size", 1, 65536);
  s.attention_heads = keys.number("pf.enc.attention_heads", 1, 1024);
  s.num_blocks = keys.number("pf.enc.num_blocks", 1, limits::layers);
  s.kernel_size = keys.number("pf.enc.kernel_size", 1, 1023);
  s.decoder_blocks = keys.number("pf.dec.num_blocks", 1, limits::layers);
  s.decoder_heads = keys.number("pf.dec.attention_heads", 1, 1024);
  s.decoder_kernel = keys.number("pf.dec.kernel_size", 1, 1023);
  (void)keys.number("pf.dec.att_layer_num", s.decoder_blocks, s.decoder_blocks);
  (void)keys.number("pf.dec.decoders3", 1, 1);
  (void)keys.number("pf.predictor.threshold", 1, 1);
  s.linear_units = rows_of(file, "encoder.encoders0.0.feed_forward.w_1.weight", s.linear_units);
  s.decoder_units = rows_of(file, "decoder.decoders.0.feed_forward.w_1.weight", s.decoder_units);
  s.tail_threshold = static_cast<float>(keys.real("pf.predictor.tail_threshold", 0, 0, 1));
  if (!(s.tail_threshold > 0))
    fail({.where = file.where(), .what = "key \"pf.predictor.tail_threshold\"", .expected = "above 0, up to 1"});
  s.frontend.lfr_m = 7;  // the file does not say how features are made; these are the published model's
  s.frontend.lfr_n = 6;
  for (const std::uint32_t heads : {s.attention_heads, s.decoder_heads})
    if (s.output_size % heads != 0)
      fail({.where = file.where(), .what = "pf.*.attention_heads does not divide pf.enc.output_size"});
  return s;
}

}  // namespace

imported_model import_published_paraformer(const std::shared_ptr<gguf_file>& file) {
  if (!file->has("pf.vocab"))
    fail({.where = file->where(),
          .what = "holds no vocabulary (key \"pf.vocab\")",
          .hint = "it was exported without the tokens; convert the original folder instead"});
  const published_keys keys(*file);
  const paraformer_settings s = paraformer_settings_of(*file, keys);
  const std::vector<std::string> tokens = keys.strings("pf.vocab");
  imported_model model;
  constexpr unused_setting unused[] = {{"pf.vocab_size", "the tokens say it"}};
  keys.check("pf.", unused, model.notes);
  model.where = file->where();
  model.source = file;
  set_paraformer_keys(model.file, s, tokens);
  checkpoint_tensors from = published_tensors(*file, s.frontend.width());
  promise_paraformer(from, s, tokens.size());
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
