// tools/convert/main.cpp - steno-convert: a checkpoint as users download it to one packaged GGUF file.
//
// With --verify it says what it would make of the checkpoint and writes nothing. Exit status: 0 done, 1 the input is
// bad or the output cannot be written (one line on stderr; with --verify lines on stdout), 2 wrong usage, 129, 130 or
// 143 when SIGHUP, SIGINT or SIGTERM ended it: then nothing is left of the output.
// SPDX-License-Identifier: Apache-2.0
#include <steno/config.hpp>
#include <steno/error.hpp>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "convert.hpp"
#include "downloads.hpp"
#include "file_faults.hpp"
#include "interruption.hpp"
#include "utf8_path.hpp"
#include "verify.hpp"

namespace {

// One line on a terminal: [#####.....]  52 %  486 of 936 MB
class progress_bar {
 public:
  void show(std::uint64_t done, std::uint64_t total) {
    const int percent =
        total == 0 ? 100 : static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(total));
    if (percent == shown_) return;
    shown_ = percent;
    const std::string bar = std::string(static_cast<std::size_t>(percent) / 4, '#');
    std::fprintf(stderr, "\r[%-25s] %3d %%  %llu of %llu MB", bar.c_str(), percent,
                 static_cast<unsigned long long>(done / 1000000), static_cast<unsigned long long>(total / 1000000));
  }
  ~progress_bar() {
    if (shown_ >= 0) std::fputc('\n', stderr);
  }

 private:
  int shown_ = -1;
};

int run(const std::vector<std::string>& words) {
  CLI::App app("Converts a checkpoint to one GGUF file that steno reads.", "steno-convert");
  app.allow_windows_style_options(false);  // "/" begins a path
  std::string input, output, type, cmvn, tokenizer, jieba_dict;
  std::vector<std::string> types_of;
  std::optional<double> longest_clip;
  std::optional<std::uint32_t> sample_rate;
  bool no_progress = false, verifies = false;
  app.add_option("INPUT", input, "a folder or file as it was downloaded, or a GGUF file (docs/downloads.md)");
  CLI::Option* const out = app.add_option("-o,--output", output, "GGUF file to write");
  app.add_flag("--verify", verifies,
               "write nothing: list what would be read, ignored, refused or is missing; exit 0 if it would convert")
      ->excludes(out);
  app.add_option("--type", type, "number format of the matrices (default: as stored)")
      ->check(CLI::IsMember(steno::type_names()));
  app.add_option("--type-of", types_of, "GLOB=TYPE: another format for tensors of these names; may be repeated")
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        try {
          (void)steno::parse_type_of(text);
          return std::string();
        } catch (const steno::error& e) {
          return std::string(e.what());
        }
      });
  app.add_option("--cmvn", cmvn, "am.mvn file to use instead of the checkpoint's");
  app.add_option("--tokenizer", tokenizer,
                 "multilingual.tiktoken, gpt2.tiktoken, vocab.json or tokenizer.json for openai's Whisper files "
                 "[where it usually is]");
  app.add_option("--jieba-dict", jieba_dict,
                 "jieba's dict.txt for punctuation models that cut texts by it (jieba_usr_dict) [where an installed "
                 "jieba has it]");
  app.add_option("--longest-clip", longest_clip,
                 "seconds that a Qwen3-ASR model understands at once: what is longer will be cut at quiet places")
      ->check(CLI::Range(1.0, 1200.0));
  app.add_option("--sample-rate", sample_rate,
                 "8000 or 16000: which model of a Silero VAD file that holds both [16000]")
      ->check(CLI::IsMember({8000, 16000}));
  app.add_flag("--no-progress", no_progress, "never show the progress bar");
  app.set_version_flag("--version", std::to_string(steno::version.major) + "." + std::to_string(steno::version.minor) +
                                        "." + std::to_string(steno::version.patch));
  bool lists = false, lists_for_the_page = false;
  app.add_flag("--list", lists,
               "what can be downloaded: where, the command, sizes, languages, licence, what was checked");
  app.add_flag("--list-markdown", lists_for_the_page)->group("");  // docs/downloads.md
  try {
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    app.parse(static_cast<int>(argv.size()), argv.data());
    if (lists || lists_for_the_page) {
      const std::string text = lists ? steno::downloads_text() : steno::downloads_markdown();
      return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
    }
    if (input.empty()) throw CLI::RequiredError("INPUT");
    if (output.empty() && !verifies) throw CLI::RequiredError("--output");
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    steno::convert_options options;
    if (!type.empty()) {
      const steno::format_choice choice = steno::parse_type(type);
      options.type = choice.type;
      options.mix = choice.mix;
    }
    for (const std::string& t : types_of) options.exceptions.push_back(steno::parse_type_of(t));
    if (!cmvn.empty()) options.cmvn = steno::utf8_path(cmvn);
    if (!tokenizer.empty()) options.tokenizer = steno::utf8_path(tokenizer);
    if (!jieba_dict.empty()) options.jieba_dict = steno::utf8_path(jieba_dict);
    options.longest_clip = longest_clip;
    options.sample_rate = sample_rate;
    if (verifies) {
      const steno::verification v = steno::verify(steno::utf8_path(input), options);
      for (const std::string& line : v.lines) std::printf("%s\n", steno::core::printable(line).c_str());
      return v.converts ? 0 : 1;
    }
    steno::leave_nothing_when_interrupted(steno::utf8_path(output));
    std::vector<std::string> notes;
    {
      progress_bar bar;
      if (!no_progress && ::isatty(STDERR_FILENO) == 1)
        options.progress = [&](std::uint64_t done, std::uint64_t total) { bar.show(done, total); };
      notes = steno::convert(steno::utf8_path(input), steno::utf8_path(output), options);
    }
    for (const std::string& note : notes)
      std::fprintf(stderr, "steno-convert: note: %s\n", steno::core::printable(note).c_str());
    return 0;
  } catch (const std::bad_alloc&) {
    steno::fail({.where = input, .what = "there is not enough memory"});
  }
}

}  // namespace

int main(int argc, char** argv) {
  steno::explain_file_faults("steno-convert");
  try {
    return run(steno::arguments_of(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fputs("steno-convert: there is not enough memory\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "steno-convert: %s\n", e.what());
  }
  return 1;
}
