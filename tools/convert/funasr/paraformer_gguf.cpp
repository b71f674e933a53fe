// tools/convert/funasr/paraformer_gguf.cpp - Paraformer from the GGUF file that FunASR publishes (general.architecture
// "paraformer", keys pf.*; runtime/llama.cpp of FunASR); see paraformer.hpp.
//
// Its numbers are those of the published sizes; sizes that tensors show are taken from them. The convolution is stored
// as [out, in, tap] and becomes the packaged matrix.
#include <steno/error.hpp>

#include <algorithm>
#include <utility>

#include "funasr/paraformer.hpp"
#include "gguf_import.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

std::uint32_t rows_of(const gguf_file& file, const char* name, std::uint32_t otherwise) {
  const auto t = file.find(name);
  return t ? static_cast<std::uint32_t>(std::clamp<extent>(t->shape[0], 1, 65536)) : otherwise;
}

paraformer_settings paraformer_settings_of(const gguf_file& file) {
  paraformer_settings s;
  s.output_size = whole_number(file, "pf.enc.output_size", 1, 65536);
  s.attention_heads = whole_number(file, "pf.enc.attention_heads", 1, 1024);
  s.num_blocks = whole_number(file, "pf.enc.num_blocks", 1, limits::layers);
  s.kernel_size = whole_number(file, "pf.enc.kernel_size", 1, 1023);
  s.decoder_blocks = whole_number(file, "pf.dec.num_blocks", 1, limits::layers);
  s.decoder_heads = whole_number(file, "pf.dec.attention_heads", 1, 1024);
  s.decoder_kernel = whole_number(file, "pf.dec.kernel_size", 1, 1023);
  (void)whole_number(file, "pf.dec.att_layer_num", s.decoder_blocks, s.decoder_blocks);
  (void)whole_number(file, "pf.dec.decoders3", 1, 1);
  (void)whole_number(file, "pf.predictor.threshold", 1, 1);
  s.linear_units = rows_of(file, "encoder.encoders0.0.feed_forward.w_1.weight", s.linear_units);
  s.decoder_units = rows_of(file, "decoder.decoders.0.feed_forward.w_1.weight", s.decoder_units);
  const double tail = file.number("pf.predictor.tail_threshold").value_or(0);
  if (!(tail >= 0 && tail < 1))
    fail({.where = file.where(),
          .what = "key \"pf.predictor.tail_threshold\"",
          .expected = "0 to 1",
          .found = std::to_string(tail)});
  s.tail_threshold = static_cast<float>(tail);
  s.lfr_m = 7;  // the file does not say how features are made; these are the published model's
  s.lfr_n = 6;
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
  const paraformer_settings s = paraformer_settings_of(*file);
  const std::vector<std::string> tokens = file->strings("pf.vocab");
  imported_model model;
  model.where = file->where();
  model.source = file;
  set_paraformer_keys(model.file, s, tokens);
  checkpoint_tensors from = published_tensors(*file, s.input_size(), model.notes);
  promise_paraformer(from, s, tokens.size());
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
