// tools/trace/families.hpp - the families steno-trace knows; a new one adds its function and a row.
#pragma once
#include <string_view>

#include "job.hpp"

namespace steno::trace {

void sense_voice(job& j);
void paraformer(job& j);
void fsmn_vad(job& j);
void paraformer_online(job& j);
void ct_punc(job& j);
void u2_conformer(job& j);
void u2_transformer(job& j);
void whisper(job& j);
void parakeet_ctc(job& j);
void parakeet_transducer(job& j);
void sortformer(job& j);
void qwen3_asr(job& j);
void qwen3_forced_aligner(job& j);
void fun_asr_nano(job& j);

struct family {
  std::string_view architecture, settings;  ///< settings: for --help
  void (*run)(job& j);
};
inline constexpr family families[] = {
    {"sense_voice", "language=auto|zh|en|..., itn=true, cmvn=false", sense_voice},
    {"paraformer", "cmvn=false", paraformer},
    {"fsmn_vad", "cmvn=false", fsmn_vad},
    {"paraformer_online",
     "cmvn=false, chunk_before=0, chunk_size=10, chunk_after=5, encoder_look_back=4, decoder_look_back=1",
     paraformer_online},
    {"ct_transformer", "split_size=20 (INPUT is text, or JSON with input_text)", ct_punc},
    {"u2_conformer", "chunk_size=16, num_left_chunks=-1", u2_conformer},
    {"u2_transformer", "chunk_size=16, num_left_chunks=-1", u2_transformer},
    {"whisper",
     "prompt=ID,ID,... (else, as the golden cases: <|de|>, no times, \" The quick\"), alignment_heads=LAYER,HEAD,...",
     whisper},
    {"parakeet_ctc", "none", parakeet_ctc},
    {"parakeet_transducer", "max_symbols=0", parakeet_transducer},
    {"sortformer", "spkcache_len=188, fifo_len=0, chunk_len=188, ... (of streams)", sortformer},
    {"qwen3_asr", "context=TEXT, language=NAME, max_new_tokens=4096", qwen3_asr},
    {"qwen3_forced_aligner", "text=WHAT IS SAID", qwen3_forced_aligner},
    {"fun_asr_nano", "language=NAME, itn=true, hotwords=A,B", fun_asr_nano},
};

}  // namespace steno::trace
