// SPDX-License-Identifier: Apache-2.0
#include "damage/corpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "damage/child.hpp"
#include "damage/gguf_parts.hpp"
#include "support/silero_case.hpp"

namespace steno::damage {
namespace {

namespace fs = std::filesystem;

const std::string source = STENO_SOURCE_DIR;
const std::string demo = source + "/examples/models/demo.gguf";

std::vector<use> uses_of(const std::string& architecture) {
  const use transcribe{"transcribe", {"STENO", "transcribe", "-m", "MODEL", "--format", "json", "WAV"}};
  const use words{"words", {"STENO", "transcribe", "-m", "MODEL", "--word-timestamps", "--format", "srt", "WAV"}};
  const use stream{"stream", {"STENO", "stream", "-m", "MODEL", "--format", "jsonl", "WAV"}};
  std::vector<use> all;
  if (architecture == "fsmn_vad" || architecture == "silero_vad") {
    all = {{"vad", {"STENO", "vad", "--vad", "MODEL", "WAV"}},
           {"transcribe-vad", {"STENO", "transcribe", "-m", demo, "--vad", "MODEL", "WAV"}}};
  } else if (architecture == "sortformer") {
    all = {{"diarize", {"STENO", "diarize", "-m", "MODEL", "WAV"}}};
  } else if (architecture == "qwen3_forced_aligner") {
    all = {{"align", {"STENO", "align", "-m", "MODEL", "--text", "TEXT", "WAV"}}};
  } else if (architecture == "ct_transformer" || architecture == "ct_transformer_streaming") {
    all = {{"punctuate", {"STENO", "transcribe", "-m", demo, "--punctuate", "MODEL", "WAV"}}};
  } else {
    all = {transcribe};
    if (architecture == "whisper" || architecture == "canary") all.push_back(words);
    all.push_back(stream);
  }
  all.push_back({"info", {"STENO", "info", "-m", "MODEL"}});
  all.push_back({"convert", {"CONVERT", "MODEL", "-o", "OUT", "--type", "q8_0"}});
  return all;
}

template <class T>
key_part list_of(const std::string& name, weights::gguf_type element, const std::vector<T>& values) {
  std::string raw = bytes_of(static_cast<std::int32_t>(element)) + bytes_of(std::uint64_t{values.size()});
  for (const T& v : values) {
    if constexpr (std::is_same_v<T, std::string>)
      raw += sized(v);
    else
      raw += bytes_of(v);
  }
  return {name, static_cast<std::int32_t>(weights::gguf_type::array), raw};
}
void write(const gguf_parts& parts, const fs::path& to) {
  const std::string bytes = parts.bytes();
  std::ofstream(to, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

// Punctuation whose words a dictionary makes: a made-up one in the compact golden file.
void write_dictionary(const fs::path& to) {
  using type = weights::gguf_type;
  gguf_parts punc(source + "/tests/golden/ct_punc/model.gguf");
  const std::string at = "ct_transformer.dictionary.";
  punc.keys.push_back(list_of<std::string>(at + "words", type::string, {"one", "two", "\u4e00\u4e07", "\u4e07"}));
  punc.keys.push_back(list_of<std::uint32_t>(at + "frequencies", type::u32, {10, 20, 30, 40}));
  punc.keys.push_back({at + "total", static_cast<std::int32_t>(type::f64), bytes_of(100.0)});
  write(punc, to);
}

// Fun-ASR-Nano with a language model: its compact golden file has none, so it is given that of the compact Qwen3-ASR,
// which is as wide; and tokens for its CTC head, so that words get times.
void write_nano(const fs::path& to) {
  gguf_parts nano(source + "/tests/golden/fun_asr_nano/model.gguf");
  const gguf_parts qwen(source + "/tests/golden/qwen3_asr/model.gguf");
  const std::string of_qwen = "thinker.model.";
  for (tensor_part t : qwen.tensors) {
    if (t.name.compare(0, of_qwen.size(), of_qwen) != 0 || t.name == of_qwen + "embed_tokens.weight") continue;
    t.name = "llm.model." + t.name.substr(of_qwen.size());
    nano.tensors.push_back(std::move(t));
  }
  std::vector<std::string> letters;
  for (char c = '!'; letters.size() < 59; ++c) letters.emplace_back(1, c);
  using type = weights::gguf_type;
  nano.keys.push_back(list_of("fun_asr_nano.ctc.tokens", type::string, letters));
  nano.keys.push_back(list_of<std::string>("fun_asr_nano.ctc.special_tokens", type::string, {"<|nospeech|>"}));
  nano.keys.push_back({"fun_asr_nano.ctc.blank_id", static_cast<std::int32_t>(type::u32), bytes_of(std::uint32_t{60})});
  write(nano, to);
}

// Silero VAD with made-up weights, and with the settings that a file may have.
void write_silero(const fs::path& to) {
  const std::vector<std::byte> bytes =
      test::silero_gguf(16000, 0, test::silero_tensors(16000, 5, {8, 6, 4, 12}, 4), [](weights::gguf_writer& w) {
        w.set("silero_vad.post.threshold", 0.4f);
        w.set("silero_vad.post.neg_threshold", 0.3f);
        for (const char* key : {"min_speech_duration_ms", "min_silence_duration_ms", "speech_pad_ms",
                                "max_speech_duration_ms", "min_silence_at_max_speech_ms"})
          w.set(std::string("silero_vad.post.") + key, std::uint32_t{64});
        w.set("silero_vad.post.use_max_poss_sil_at_max_speech", true);
      });
  std::ofstream(to, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// A model under its name, with what the programs can do with it as it is: something beside info and convert.
void add(std::vector<corpus_model>& all, const workplace& at, const std::string& name, const fs::path& file) {
  corpus_model m{name, file, gguf_parts(file.string()).architecture(), {}};
  for (use& u : uses_of(m.architecture)) {
    const ending e = run_child(command_line(at, u, file.string(), (at.scratch / "out.gguf").string()), {60, 0, {}});
    if (e.code != 0) continue;
    u.right = e.out;
    m.uses.push_back(std::move(u));
  }
  if (m.uses.size() < 3) throw std::runtime_error("the programs make nothing of the undamaged model " + name);
  all.push_back(std::move(m));
}

}  // namespace

std::vector<std::string> command_line(const workplace& at, const use& u, const std::string& model,
                                      const std::string& out) {
  std::vector<std::string> all;
  for (const std::string& a : u.arguments)
    all.push_back(a == "STENO"     ? at.steno
                  : a == "CONVERT" ? at.convert
                  : a == "MODEL"   ? model
                  : a == "WAV"     ? at.sound.string()
                  : a == "TEXT"    ? at.text.string()
                  : a == "OUT"     ? out
                                   : a);
  if (u.name == "transcribe" || u.name == "words" || u.name == "diarize" || u.name == "punctuate") {
    all.push_back("--threads");
    all.push_back("1");
  }
  return all;
}

std::vector<corpus_model> corpus(const workplace& at, const std::vector<std::string>& names) {
  std::vector<corpus_model> all;
  const auto wanted = [&](const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<fs::path> demos;
  for (const auto& entry : fs::directory_iterator(source + "/examples/models"))
    if (entry.path().extension() == ".gguf") demos.push_back(entry.path());
  std::sort(demos.begin(), demos.end());
  for (const fs::path& p : demos)
    if (wanted(p.stem().string())) add(all, at, p.stem().string(), p);
  for (const char* name : {"canary", "ct_punc", "ct_punc_realtime", "paraformer_online", "qwen3_aligner",
                           "seaco_paraformer", "sortformer", "wenet"})
    if (wanted(std::string("golden-") + name))
      add(all, at, std::string("golden-") + name, source + "/tests/golden/" + name + "/model.gguf");
  if (wanted("ct_punc_words")) {
    write_dictionary(at.scratch / "ct_punc_words.gguf");
    add(all, at, "ct_punc_words", at.scratch / "ct_punc_words.gguf");
  }
  if (wanted("silero_vad")) {
    write_silero(at.scratch / "silero_vad.gguf");
    add(all, at, "silero_vad", at.scratch / "silero_vad.gguf");
  }
  if (wanted("nano")) {
    write_nano(at.scratch / "nano.gguf");
    add(all, at, "nano", at.scratch / "nano.gguf");
  }

  const char* named = std::getenv("STENO_SHARED");
  const fs::path golden = fs::path(named != nullptr ? named : source + "/../shared") / "golden";
  for (const auto& [name, checkpoint] : {std::pair<std::string, const char*>{"punc", "funasr/punc/checkpoint"},
                                         {"canary-v2", "nemo/canary-v2/checkpoint/model.nemo"},
                                         {"parakeet-rnnt", "nemo/parakeet-rnnt/checkpoint/model.nemo"},
                                         {"sortformer-v1", "nemo/sortformer-v1/checkpoint/model.nemo"},
                                         {"u2_transformer", "wenet/u2_transformer/checkpoint"},
                                         {"u2_unified", "wenet/u2_unified_conformer/checkpoint"}}) {
    const fs::path from = golden / checkpoint;
    if (!fs::exists(from) || !wanted(name)) continue;
    const fs::path to = at.scratch / (name + ".gguf");
    if (run_child({at.convert, from.string(), "-o", to.string()}, {120, 0, {}}).code == 0) add(all, at, name, to);
  }
  return all;
}

}  // namespace steno::damage
