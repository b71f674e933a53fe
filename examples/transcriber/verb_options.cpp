// SPDX-License-Identifier: Apache-2.0
#include "verb_options.hpp"

#include <steno/config.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "detector_settings.hpp"

namespace steno::app {
namespace {

constexpr const char *of_input = "Input: what is heard", *of_model = "Model: what recognises",
                     *of_output = "Output: where results go", *of_cutting = "Long recordings: how they are cut",
                     *of_detector = "Detector: what --vad takes for speech",
                     *of_words = "Words: favoured, timed and punctuated", *of_speakers = "Speakers: who says it",
                     *of_memory = "Speaker memory: what a Sortformer keeps of a stream",
                     *of_stream = "Stream: how much is heard at once", *of_turns = "Turns: where utterances end",
                     *of_segments = "Segments: where they begin and end", *of_server = "Server: who may connect",
                     *of_requests = "Requests: recordings over HTTP",
                     *of_files = "Files: where models are, and how they are opened",
                     *of_program = "Program: settings and messages";

// Of the verbs that can do with a bundled model: -m or --demo.
void add_model(CLI::App& app, options& o, raw_options& raw, const char* names, const char* about) {
  topic(app, of_model);
  CLI::Option* const model = o.verb == "serve" ? app.add_option(names, raw.models, about)
                                                     ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                                                     ->allow_extra_args(false)
                                               : app.add_option(names, o.model, about);
  model->type_name("MODEL");
  app.add_option("--demo", raw.demo, "The bundled model of a family, e.g. parakeet-tdt; a wrong name lists them")
      ->type_name("FAMILY")
      ->excludes(model);
  app.add_option("--tokenizer", o.tokenizer,
                 "The tokenizer of openai's Whisper .pt files, which have none: multilingual.tiktoken, gpt2.tiktoken, "
                 "vocab.json or tokenizer.json [where it usually is]")
      ->type_name("FILE");
}

// Of the verbs that one bundled model can do with.
void add_bundled(CLI::App& app, raw_options& raw, CLI::Option* model) {
  topic(app, of_model);
  app.add_flag("--demo", raw.bundled, "The bundled model")->excludes(model);
}

void add_threads(CLI::App& app, options& o, const char* about = "Threads, at most one per processor [all]") {
  topic(app, of_model);
  app.add_option("--threads", o.threads, about)->type_name("N")->check(CLI::Range(1, 1024));
}

void add_itn_rules(CLI::App& app, options& o, const char* about) {
  app.add_option("--itn-rules", o.itn_rules, about)->type_name("PATH");
}

// Given, or not given: a flag of CLI11 would be off by itself.
void add_itn(CLI::App& app, options& o, const char* about) {
  const auto flag = [&](const char* name, bool value, const std::string& text) {
    return app.add_flag_callback(
        name, [&o, value] { o.inverse_text_normalisation = value; }, text);
  };
  CLI::Option* const on = flag("--itn", true, about);
  flag("--no-itn", false, "The opposite of --itn")->excludes(on);
}

// Of all verbs that open models.
void add_model_files(CLI::App& app, options& o) {
  topic(app, of_files);
  app.add_option("--models", o.models, "A folder where models are looked for by name, before the usual ones")
      ->type_name("DIR");
  if (o.verb == "models") return;
  app.add_flag("--cache", o.cache_models,
               "Keep a converted copy of a checkpoint, so that the next start is as fast as with a packaged file");
  app.add_flag("--check-weights", o.check_weights, "Look at every weight for infinities and NaN before the start");
  if (o.verb == "serve") {
    o.copy_models = true;
    app.add_flag_callback(
        "--mmap", [&o] { o.copy_models = false; },
        "Map model files instead of reading a copy: do not overwrite them in place while they are in use");
  } else {
    app.add_flag("--no-mmap", o.copy_models,
                 "Read a copy of model files, which may then be overwritten in place while they are in use");
  }
}

// Of the verbs that read standard input.
void add_pcm(CLI::App& app, raw_options& raw) {
  topic(app, of_input);
  app.add_option("--pcm-format", raw.pcm_format, "Raw samples on standard input: s16le or f32le [s16le]")
      ->type_name("FORMAT");
  app.add_option("--pcm-rate", raw.pcm_rate, "Their rate [16000]")->type_name("HZ")->check(CLI::Range(1000, 1000000));
  app.add_option("--pcm-channels", raw.pcm_channels, "Their channels, interleaved [1]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
}

void add_ffmpeg(CLI::App& app, raw_options& raw, const char* where = of_input) {
  topic(app, where);
  app.add_option("--ffmpeg", raw.ffmpeg,
                 "The ffmpeg that reads video, M4A, WebM and other recordings; none: read without it [the installed "
                 "one; or what STENO_FFMPEG says]")
      ->type_name("PROGRAM");
}

// Of the verbs that listen to recordings: which part, and which channels. The name of the first option of diarize is
// another's.
void add_reading(CLI::App& app, options& o, raw_options& raw) {
  topic(app, of_input);
  app.add_option(o.verb == "diarize" ? "--start" : "--offset,--start", o.reading.part.offset,
                 "Begin so many seconds into the recording; times in results stay those of the recording [0]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e7));
  app.add_option("--duration", o.reading.part.duration, "Listen to so many seconds [to the end]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 1e7));
  app.add_option(
         "--channels", raw.channels,
         o.verb == "transcribe"
             ? "mix: all channels together; N: one of them, from 1 on; split: each by itself, as a speaker of its "
               "own, e.g. the two sides of a telephone call [mix]"
             : "mix: all channels together; N: one of them, from 1 on [mix]")
      ->type_name("WHICH");
  add_ffmpeg(app, raw);
}

// Of the verbs that go through a list of recordings.
void add_inputs(CLI::App& app, options& o, raw_options& raw) {
  topic(app, of_input);
  app.add_option("--manifest", o.manifest,
                 "Recordings named by a file: JSON lines (\"audio\", NeMo's or FunASR's keys), Kaldi's wav.scp, or "
                 "a path on each line")
      ->type_name("FILE");
  app.add_flag("-r,--recursive", o.recursive, "Folders in folders, too; -o DIR/ gets the same tree of folders");
  add_reading(app, o, raw);
  app.add_option("--shard", raw.part, "Take part I (0 to N) of N parts of about the same length")->type_name("I/N");
  add_pcm(app, raw);
  topic(app, of_program);
  app.add_option("--progress", raw.progress, "bar (on a terminal), json (lines for programs, on stderr) or none [bar]")
      ->type_name("WHAT");
  app.add_flag("--no-progress", raw.no_progress, "No progress bar (there is none either unless stderr is a terminal)");
  if (o.verb == "transcribe") app.add_flag("--profile", o.profile, "On stderr, where the time went, stage by stage");
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

// What a Sortformer remembers of a stream, in rows of 80 ms.
void add_speaker_cache(CLI::App& app, options& o, const std::string& prefix) {
  topic(app, of_memory);
  const auto rows = [&](const char* name, const char* about) {
    std::string option = prefix + name;
    std::replace(option.begin(), option.end(), '_', '-');
    app.add_option_function<int>(
           option, [&o, name](int n) { o.speakers.memory[name] = n; }, about)
        ->type_name("N")
        ->check(CLI::Range(0, 65536));
  };
  rows("chunk_len", "Of models of speakers for streams: rows of 80 ms heard at once [the model's]");
  rows("chunk_left_context", "Rows before them that are heard again [the model's]");
  rows("chunk_right_context", "Rows behind them that are waited for [the model's]");
  rows("fifo_len", "Rows of the last chunks that are kept whole [the model's]");
  rows("spkcache_update_period", "Rows that leave these at once [the model's]");
  rows("spkcache_len", "Rows that are remembered of all speakers [the model's]");
}

// Of the verbs whose texts may have speakers.
void add_speakers(CLI::App& app, options& o) {
  topic(app, of_speakers);
  app.add_option(
         "--speakers", o.speakers.model,
         "Tell who said it, with a Sortformer (or demo): packaged GGUF, or a checkpoint that steno-convert reads")
      ->type_name("MODEL");
  app.add_option(
         "--speaker-names", o.speakers.names,
         o.verb == "transcribe"
             ? "With --speakers: their names in the order in which they are heard, one a line [Speaker 1, ...]; "
               "with --channels split: those of the channels [Channel 1, ...]"
             : "With --speakers: their names in the order in which they are heard, one a line [Speaker 1, ...]")
      ->type_name("FILE");
  add_speaker_cache(app, o, "--speaker-");
}

// What scores what a search favours.
void add_favoured(CLI::App& app, options& o) {
  app.add_option("--hotword-score", o.hotword_score,
                 "Bonus for each unit of a phrase [of CTC 3, of Whisper and Paraformer 2, of transducers 1]")
      ->type_name("X");
  app.add_option("--lm", o.lm, "Language model of the search: an ARPA file, or what steno-convert makes of it")
      ->type_name("FILE");
  app.add_option("--lm-weight", o.lm_weight,
                 "Factor of its log-probabilities; 0: it counts for nothing [the search's own]")
      ->type_name("X")
      ->check(CLI::Range(0.0, 10.0));
}

void add_transcribe(CLI::App& app, options& o, raw_options& raw) {
  topic(app, of_input);
  app.add_option(
      "AUDIO", o.audio,
      "Recordings (sound or, with ffmpeg, video), folders of them, or - for standard input (a recording or raw PCM)");
  add_model(app, o, raw, "-m,--model", "Packaged GGUF, or a checkpoint that steno-convert reads [bundled demo model]");
  topic(app, of_output);
  app.add_option("--format", raw.format,
                 "text, json, jsonl, srt, vtt, ass, lrc, tsv, csv, md, rttm, ctm or stm; several (srt,json) with -o "
                 "DIR/ or --output-name [text]")
      ->type_name("FORMAT");
  app.add_option("-o,--output", o.output, "Write to this file; DIR/ writes one file per input into DIR")
      ->type_name("FILE");
  app.add_option("--output-name", o.output_name, "Write to files of this name with the endings of their formats")
      ->type_name("NAME");
  app.add_flag("--output-beside", o.output_beside, "Write files beside each input: talk.wav.srt");
  app.add_flag("--resume", o.resume, "With -o DIR/: what it says is done is not done again; DIR/.steno-done says it");
  app.add_flag("--list-left", o.list_left,
               "With --resume: transcribe nothing; list what is not done as lines of JSON, with the reason where it "
               "failed. Exit code 1 where anything is left");
  topic(app, of_model);
  app.add_option("--language", o.language, "Language spoken, e.g. en [auto]")->type_name("CODE");
  app.add_option("--target-language", o.target_language,
                 "Language to be written, where the model translates into several (Canary) [as it is spoken]")
      ->type_name("CODE");
  app.add_flag_callback(
      "--no-punctuation", [&o] { o.write_punctuation = false; },
      "Neither punctuation nor capital letters, where the model can leave them out (Canary)");
  add_itn(app, o, "Punctuation and numbers as figures, where the model can do both [the model's own]");
  add_threads(app, o);
  app.add_option("--beam,--beam-size", o.beam, "Beam width, where the model searches; 1 is greedy [the model's own]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--look-ahead", o.look_ahead,
                 "Encoder frames looked ahead: one that the model was trained with (Nemotron) [its usual one]")
      ->type_name("N")
      ->check(CLI::Range(0, 8192));
  topic(app, of_cutting);
  app.add_option("--vad", o.vad, "Find speech first: none, energy or a VAD model [none]")->type_name("MODEL");
  topic(app, of_detector);
  add_detector_settings(app, o.detector, "--vad-");
  topic(app, of_cutting);
  app.add_option("--merge-seconds", o.merge_seconds,
                 "With --vad: join neighbouring segments up to so many seconds [0; for Whisper they share its windows]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--max-clip-seconds", o.max_clip_seconds,
                 "Cut what is longer at quiet places into clips [what the model hears at once]")
      ->type_name("SECONDS")
      ->check(CLI::Range(1.0, 3600.0));
  app.add_option("--parallel-clips", o.parallel_clips,
                 "Transcribe so many clips at once, also of several recordings where these are short: each on one "
                 "thread, Qwen3-ASR together on all [1]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  topic(app, of_words);
  app.add_option("--punctuate", o.punctuation, "Put punctuation into the text: a punctuation model, or demo")
      ->type_name("MODEL");
  add_itn_rules(app, o, "Write numbers, dates and the like as figures by rules: a folder of WeText's or NeMo's");
  app.add_option("--align", o.aligner, "Times of words by a forced aligner (or demo), where the model has none")
      ->type_name("MODEL");
  add_speakers(app, o);
  topic(app, of_speakers);
  app.add_flag("--parallel-speakers", o.speakers.beside,
               "With --speakers: tell them on a thread of their own, beside the recognition; the result is the same");
  topic(app, of_words);
  app.add_option(
         "--hotwords", o.hotwords,
         "Phrases to favour, one per line (phrase, or phrase<TAB>weight), where the model searches or reads them")
      ->type_name("FILE");
  add_favoured(app, o);
  add_inputs(app, o, raw);
  add_writing(app, o.output_layout, raw.style, raw.lines);
  add_decoding(app, o.decoding, raw.decoding);
}

void add_info(CLI::App& app, options& o, raw_options& raw) {
  add_model(app, o, raw, "MODEL,-m,--model", "The model [bundled demo model]");
  topic(app, of_output);
  app.add_option("--format", raw.format, "text or json [text]")->type_name("FORMAT");
}

void add_models(CLI::App& app, options& o, raw_options& raw) {
  topic(app, of_model);
  app.add_option("--how", o.how, "Say where a model is published, and how it is fetched and converted")
      ->type_name("NAME");
  topic(app, of_output);
  app.add_option("--format", raw.format, "text, or jsonl: a line of JSON for each [text]")->type_name("FORMAT");
  topic(app, of_program);
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

void add_bench(CLI::App& app, options& o, raw_options& raw) {
  topic(app, of_input);
  app.add_option("AUDIO", o.audio, "The sound file to transcribe");
  add_model(app, o, raw, "-m,--model", "The model [bundled demo model]");
  app.add_option("--runs", o.runs, "How many times [3]")->type_name("N")->check(CLI::Range(1, 100000));
  add_threads(app, o);
  app.add_option("--language", o.language, "Language spoken [auto]")->type_name("CODE");
  add_itn(app, o, "As in transcribe");
  app.add_flag("--profile", o.profile, "One more run: where its time goes, stage by stage");
  add_ffmpeg(app, raw);
}

void add_live(CLI::App& app, options& o, raw_options& raw) {
  add_model(
      app, o, raw, "-m,--model",
      o.verb == "serve"
          ? "Any model: packaged GGUF, or a checkpoint that steno-convert reads; NAME=MODEL: requests call it so. "
            "May be given again: the others are loaded when a request names them"
          : "Any model: packaged GGUF, or a checkpoint that steno-convert reads. One that does not stream by "
            "itself recognises each segment of speech when it has ended, with partial results on the way");
  topic(app, of_stream);
  app.add_option("--final-model", o.live.final_model,
                 "Two passes: the model streams partial results, and this one recognises each segment of speech when "
                 "it has ended")
      ->type_name("MODEL");
  CLI::Option* const by_segments = app.add_flag(
      "--by-segments", [&o](std::int64_t) { o.live.by_segments = true; },
      "Recognise segments of speech, also with a model that streams by itself [where its words come late]");
  app.add_flag(
         "--own-stream", [&o](std::int64_t) { o.live.by_segments = false; },
         "Stream as the model does by itself, also where its words come late")
      ->excludes(by_segments);
  app.add_option("--partial-seconds", o.live.partial_seconds,
                 "Seconds of a segment between partial results, more the longer it is; 0: none [0.5]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--chunk-size", o.live.chunk_size,
                 "Encoder frames decoded at once; -1: everything at the end [the model's]")
      ->type_name("N")
      ->check(CLI::Range(-1, 4096));
  app.add_option("--left-chunks", o.live.left_chunks, "Chunks looked back at; -1: all of the utterance [the model's]")
      ->type_name("N")
      ->check(CLI::Range(-1, 4096));
  app.add_option("--left-context", o.live.left_context,
                 "Encoder frames looked back at, where chunks are not what counts (Parakeet in windows) [the model's]")
      ->type_name("N")
      ->check(CLI::Range(0, 8192));
  app.add_option("--look-ahead", o.look_ahead,
                 "Encoder frames looked ahead: of Nemotron one that it was trained with, of Parakeet in windows any "
                 "[the model's]")
      ->type_name("N")
      ->check(CLI::Range(0, 8192));
  topic(app, of_model);
  app.add_option("--language", o.language, "Language spoken, where the model can be told it, e.g. en [auto]")
      ->type_name("CODE");
  topic(app, of_turns);
  app.add_option("--max-utterance-seconds", o.live.max_utterance_seconds,
                 "End utterances after so many seconds in any case [the model's own limit]")
      ->type_name("SECONDS")
      ->check(CLI::Range(1.0, 3600.0));
  topic(app, of_words);
  app.add_option("--beam", o.beam, "Beam width, where the model searches; 1 is greedy [the model's own]")
      ->type_name("N")
      ->check(CLI::Range(1, 100));
  app.add_option("--hotwords", o.hotwords, "Phrases to favour, one per line (phrase, or phrase<TAB>weight)")
      ->type_name("FILE");
  add_favoured(app, o);
  app.add_flag("!--no-rescore", o.live.rescore, "Final results of the first pass alone");
  topic(app, of_turns);
  app.add_flag("!--no-endpoints", o.live.endpoints, "One utterance, however long its pauses are");
  app.add_flag("--forget-turns", o.live.forget_turns, "What was said is forgotten at the end of a turn (Parakeet EOU)");
}

void add_stream(CLI::App& app, options& o, raw_options& raw) {
  topic(app, of_input);
  app.add_option("AUDIO", o.audio,
                 "A recording (sound or, with ffmpeg, video), or - for standard input (a recording or raw PCM)");
  add_live(app, o, raw);
  add_speakers(app, o);
  topic(app, of_speakers);
  app.add_flag("--split-on-speaker", o.speakers.split, "With --speakers: an utterance ends where the speaker changes");
  topic(app, of_stream);
  app.add_option("--vad", o.vad,
                 "What finds segments of speech: energy or a VAD model [energy]. jsonl: tell where speech begins and "
                 "ends, too, with any model [none]")
      ->type_name("MODEL");
  topic(app, of_detector);
  add_detector_settings(app, o.detector, "--vad-");
  topic(app, of_output);
  app.add_option("--format", raw.format, "text or jsonl (an event per line) [text]")->type_name("FORMAT");
  app.add_option("--punctuate", o.punctuation, "Put punctuation into final results: a punctuation model, or demo")
      ->type_name("MODEL");
  add_itn_rules(app, o, "Write numbers as figures in final results: a folder of rules, WeText's or NeMo's");
  topic(app, of_input);
  app.add_option("--microphone", o.live.microphone,
                 "Listen to a microphone, until Ctrl-C or for --duration: the usual one, or --microphone=NAME")
      ->type_name("NAME")
      ->expected(0, 1)
      ->default_str("default");
  app.add_flag("--list-devices", o.live.list_devices, "Say which microphones there are");
  app.add_flag("--real-time", o.live.real_time, "Read the file no faster than it sounds");
  add_threads(app, o, "Threads, at most one per processor [1]");
  topic(app, of_program);
  app.add_flag("--no-progress", raw.no_progress, "No progress bar (there is none either unless stderr is a terminal)");
  add_reading(app, o, raw);
  add_pcm(app, raw);
  topic(app, of_program);
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

void add_vad(CLI::App& app, options& o, raw_options& raw) {
  o.vad = "energy";
  topic(app, of_input);
  app.add_option(
      "AUDIO", o.audio,
      "Recordings (sound or, with ffmpeg, video), folders of them, or - for standard input (a recording or raw PCM)");
  topic(app, of_model);
  add_bundled(
      app, raw,
      app.add_option(
             "-m,--model,--vad", o.vad,
             "energy, or an FSMN-VAD or Silero VAD: packaged GGUF, or a checkpoint that steno-convert reads [energy]")
          ->type_name("MODEL"));
  topic(app, of_output);
  app.add_option("--format", raw.format, "text, json, jsonl or rttm [text]")->type_name("FORMAT");
  app.add_option("-o,--output", o.output, "Write to this file; DIR/ writes one file per input into DIR")
      ->type_name("FILE");
  topic(app, of_segments);
  add_detector_settings(app, o.detector, "--");
  add_inputs(app, o, raw);
}

void add_diarize(CLI::App& app, options& o, raw_options& raw) {
  topic(app, of_input);
  app.add_option(
      "AUDIO", o.audio,
      "Recordings (sound or, with ffmpeg, video), folders of them, or - for standard input (a recording or raw PCM)");
  topic(app, of_model);
  add_bundled(
      app, raw,
      app.add_option("-m,--model", o.model, "A Sortformer: packaged GGUF, or a checkpoint that steno-convert reads")
          ->type_name("MODEL"));
  topic(app, of_output);
  app.add_option("--format", raw.format, "text (start, end and speaker on a line), json, jsonl or rttm [text]")
      ->type_name("FORMAT");
  app.add_option("-o,--output", o.output, "Write to this file; DIR/ writes one file per input into DIR")
      ->type_name("FILE");
  add_threads(app, o);
  topic(app, of_segments);
  app.add_option("--postprocessing", o.speakers.postprocessing,
                 "NeMo's file of these settings for a kind of recordings (YAML)")
      ->type_name("FILE");
  const auto seconds = [&](const char* name, const char* about, double most) {
    std::string option = "--" + std::string(name);
    std::replace(option.begin(), option.end(), '_', '-');
    app.add_option_function<double>(
           option, [&o, name](double x) { o.speakers.segments[name] = x; }, about)
        ->type_name("X")
        ->check(CLI::Range(0.0, most));
  };
  seconds("onset", "Probability above which somebody begins to speak [0.5]", 1);
  seconds("offset", "Probability below which he ends [0.5]; where to begin is --start", 1);
  seconds("pad_onset", "Seconds put before each segment [0]", 3600);
  seconds("pad_offset", "Seconds put behind each segment [0]", 3600);
  seconds("min_duration_on", "Shorter segments go, in seconds [0]", 3600);
  seconds("min_duration_off", "Shorter gaps of a speaker go, in seconds [0]", 3600);
  add_speaker_cache(app, o, "--");
  add_inputs(app, o, raw);
}

void add_align(CLI::App& app, options& o, raw_options& raw) {
  topic(app, of_input);
  app.add_option("AUDIO", o.audio,
                 "A recording (sound or, with ffmpeg, video), or - for standard input (a recording or raw PCM)");
  topic(app, of_model);
  add_bundled(
      app, raw,
      app.add_option("-m,--model", o.model, "A forced aligner: packaged GGUF, or a checkpoint that steno-convert reads")
          ->type_name("MODEL"));
  topic(app, of_input);
  app.add_option("--text", o.text_file, "What is said, in UTF-8")->type_name("FILE");
  topic(app, of_output);
  app.add_option("--format", raw.format,
                 "text (start, end and word on a line), json, jsonl, srt, vtt, ass, lrc, tsv, csv, ctm or stm [text]")
      ->type_name("FORMAT");
  app.add_option("-o,--output", o.output, "Write to this file")->type_name("FILE");
  topic(app, of_model);
  app.add_option("--language", o.language, "Language spoken; ko: words are cut as Korean ones are")->type_name("CODE");
  add_threads(app, o);
  add_reading(app, o, raw);
  add_pcm(app, raw);
  topic(app, of_program);
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

void add_serve(CLI::App& app, options& o, raw_options& raw) {
  add_live(app, o, raw);
  topic(app, of_stream);
  app.add_option("--vad", o.vad, "What finds segments of speech: energy or a VAD model [energy]")->type_name("MODEL");
  topic(app, of_detector);
  add_detector_settings(app, o.detector, "--vad-");
  topic(app, of_server);
  app.add_option("--host", o.live.host, "Address or name to listen on [127.0.0.1]")->type_name("ADDRESS");
  app.add_option("--port", o.live.port, "Port; 0: any [10086]")->type_name("N")->check(CLI::Range(0, 65535));
  add_threads(app, o);
  topic(app, of_server);
  app.add_option("--max-connections", o.live.connections, "At once [64]")->type_name("N")->check(CLI::Range(1, 10000));
  app.add_option("--max-message", o.live.message_bytes, "Bytes of a message [1048576]")
      ->type_name("N")
      ->check(CLI::Range(1024, 1 << 28));
  app.add_option("--max-per-peer", o.live.per_peer,
                 "At once from one address [a quarter of all; from this machine all]")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  app.add_option("--idle-timeout", o.live.idle_seconds, "Seconds until a connection without audio is closed [30]")
      ->type_name("N")
      ->check(CLI::Range(1, 86400));
  app.add_option("--drain-timeout", o.live.drain_seconds,
                 "Seconds for sessions to end after SIGINT or SIGTERM; a second signal ends at once [10]")
      ->type_name("N")
      ->check(CLI::Range(0, 86400));
  app.add_option("--allow-origin", o.live.allow_origins,
                 "Let web pages of this origin connect, too, e.g. https://example.org; may be given again; *: all")
      ->type_name("ORIGIN")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("--api-keys", o.live.api_keys, "Clients need one of these keys, one a line: Authorization: Bearer KEY")
      ->type_name("FILE");
  app.add_flag("--log-texts", o.live.log_texts, "The log also has what was said: the text of each recording and turn");
  topic(app, of_requests);
  app.add_option("--max-queue", o.live.max_queue, "Recordings that wait for a thread; more are refused, with 429 [16]")
      ->type_name("N")
      ->check(CLI::Range(0, 100000));
  app.add_option("--max-batch", o.live.max_batch,
                 "Short recordings that wait are recognised together, so many at once, where the model can (Qwen3-ASR) "
                 "[8]")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  app.add_option("--max-body", o.live.body_bytes, "Bytes of a request [104857600]")
      ->type_name("N")
      ->check(CLI::Range(1024, 1 << 30));
  app.add_option("--max-audio-seconds", o.live.audio_seconds, "Longer recordings are refused [7200]")
      ->type_name("SECONDS")
      ->check(CLI::Range(1.0, 1e6));
  app.add_option("--request-timeout", o.live.request_seconds, "Seconds until a request is given up, with 504 [never]")
      ->type_name("N")
      ->check(CLI::Range(1, 86400));
  topic(app, of_server);
  app.add_option("--max-sessions", o.live.sessions, "WebSocket sessions at once [as connections]")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  app.add_option("--requests-per-minute", o.live.per_minute,
                 "That a client may begin, sessions counted: by its key, or its address [any number]")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  topic(app, of_speakers);
  app.add_option("--speakers", o.speakers.model,
                 "Tell who said it, with this model (or demo), where response_format is diarized_json")
      ->type_name("MODEL");
  app.add_option("--speaker-names", o.speakers.names,
                 "With --speakers: their names in the order in which they are heard, one a line [A, B, ...]")
      ->type_name("FILE");
  topic(app, of_requests);
  add_itn_rules(app, o, "Write numbers as figures in final results: a folder of rules, WeText's or NeMo's");
  add_ffmpeg(app, raw, of_requests);
  topic(app, of_program);
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

}  // namespace

void topic(CLI::App& app, const char* name) { app.option_defaults()->group(name); }

void add_common_options(CLI::App& app) {
  topic(app, of_program);
  app.set_help_flag("-h,--help", "These words; with -m MODEL those alone that the model takes");
  app.set_version_flag("--version",
                       "steno " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
                           std::to_string(version.patch),
                       "Says the version");
  app.set_config("--config", "", "Options from a file, one a line: format = \"srt\"")->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
}

void add_options(CLI::App& app, options& o, raw_options& raw) {
  if (o.verb == "transcribe") add_transcribe(app, o, raw);
  if (o.verb == "info") add_info(app, o, raw);
  if (o.verb == "models") add_models(app, o, raw);
  if (o.verb == "bench") add_bench(app, o, raw);
  if (o.verb == "stream") add_stream(app, o, raw);
  if (o.verb == "serve") add_serve(app, o, raw);
  if (o.verb == "vad") add_vad(app, o, raw);
  if (o.verb == "diarize") add_diarize(app, o, raw);
  if (o.verb == "align") add_align(app, o, raw);
  add_model_files(app, o);
}

}  // namespace steno::app
