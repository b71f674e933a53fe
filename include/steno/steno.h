/* steno/steno.h - speech recognition for programs in C, and for languages that call C.
 *
 *   steno_model* model = NULL;  steno_result* result = NULL;  char* error = NULL;
 *   if (steno_model_load("model.gguf", 0, &model, &error) == STENO_OK &&
 *       steno_transcribe(model, samples, count, NULL, &result, &error) == STENO_OK)
 *     puts(steno_result_text(result));
 *   steno_free(error);  steno_result_free(result);  steno_model_free(model);
 *
 * Link with libsteno. Texts are UTF-8 and end in 0. Audio is mono, float, in [-1, 1], at the model's rate. Times are
 * seconds.
 *
 * A function that can fail returns a status. With another one than STENO_OK its outputs are not touched, and `error`,
 * unless it is NULL, gets one line that says why, which is yours: give it to steno_free(). It is NULL where there is no
 * memory for it. A handle or a pointer that must not be NULL and is makes STENO_MISUSE. Nothing is printed, no
 * exception leaves the library, and it never ends the process.
 *
 * Threads: a model of any kind may be used by several threads at once. Options, results and streams are used by one
 * thread at a time; those of one model by different threads at once. What a handle was made of must live as long as the
 * handle, but for options, which are copied; models that stand in options must live as long as what they were given to.
 * Every steno_..._free() takes NULL.
 *
 * Structs that the library fills in begin with their size, which you set, so that later versions may add fields.
 * Tested in tests/c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STENO_STENO_H
#define STENO_STENO_H

#include <stddef.h>

#if defined(_WIN32) && defined(STENO_BUILD_C) /* while the library itself is compiled */
#define STENO_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define STENO_API __attribute__((visibility("default")))
#else
#define STENO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What became of a call. */
typedef enum steno_status {
  STENO_OK = 0,        /**< it was done */
  STENO_ERROR = 1,     /**< a file, a value or a model is not as it must be: see the message */
  STENO_NO_MEMORY = 2, /**< memory was short, for a model, for its work or for a text; this call alone is lost */
  STENO_CANCELLED = 3, /**< your callback returned another number than 0 */
  STENO_MISUSE = 4     /**< a NULL that must be none, an index that is too large, a stream that is over */
} steno_status;

typedef struct steno_model steno_model;           /**< a loaded model that recognises, and a pool of threads */
typedef struct steno_diarizer steno_diarizer;     /**< a loaded model that knows who speaks when */
typedef struct steno_aligner steno_aligner;       /**< a loaded model that finds the words of a known text */
typedef struct steno_punctuator steno_punctuator; /**< a loaded model that puts punctuation into a text */
typedef struct steno_vad steno_vad;               /**< a detector of speech (voice activity) */
typedef struct steno_options steno_options;       /**< settings by name, and what stands beside a model */
typedef struct steno_result steno_result;         /**< what was found in a recording */
typedef struct steno_stream steno_stream;         /**< a stream of audio that is worked at as it comes */

/** The library's version, "0.2.0". */
STENO_API const char* steno_version(void);
/** Gives back a text of the library's. */
STENO_API void steno_free(char* text);

/* Models */

/** Loads a packaged GGUF file. `threads`: 0 means one for each processor that the process may use. Several streams or
 * calls share the threads, and then wait for each other; with 1 each works on the thread that calls. */
STENO_API steno_status steno_model_load(const char* path, int threads, steno_model** model, char** error);
STENO_API void steno_model_free(steno_model* model);
/** "sense_voice", "whisper", ... */
STENO_API const char* steno_model_name(const steno_model* model);
/** Samples a second that it expects. */
STENO_API int steno_model_sample_rate(const steno_model* model);
/** 1 where the model streams by itself. Streams of others recognise segments of speech. */
STENO_API int steno_model_streams(const steno_model* model);
/** 1 where an option has an effect: in steno_transcribe(), or, with `live`, in a stream. */
STENO_API int steno_model_supports(const steno_model* model, const char* option, int live);
/** How many languages can be chosen, and their names; NULL behind the last. */
STENO_API size_t steno_model_language_count(const steno_model* model);
STENO_API const char* steno_model_language(const steno_model* model, size_t index);

/* Options */

/** Options as they are when none is set; NULL where memory is short. */
STENO_API steno_options* steno_options_new(void);
STENO_API void steno_options_free(steno_options* options);
/** Sets an option by its name in transcribe_options, decoding_options or session_options: "language" "en", "beam" "5",
 * "hotwords" (a phrase a line, or phrase<TAB>weight), "vad" ("energy" or a model's file, which each call then loads),
 * "word_timestamps" "true", "chunk_size" "16", ... Of detectors: "vad_" and a name in vad_settings ("vad_min_silence").
 * Of diarizers: names in speaker_segment_options ("onset") and speaker_cache_options ("chunk_len"). Of texts with
 * speakers: "speaker_onset", "speaker_offset", "speaker_reach", "speaker_names" (one a line) and "split_on_speaker". A
 * value that is none is refused here, an option that is not honoured where it is used. */
STENO_API steno_status steno_options_set(steno_options* options, const char* name, const char* value, char** error);
/** Beside a model that recognises: words and segments, or utterances of a stream, get speakers. Segments are cut where
 * the speaker changes, utterances where "split_on_speaker" is "true". NULL: none. STENO_MISUSE without options. */
STENO_API steno_status steno_options_use_diarizer(steno_options* options, const steno_diarizer* diarizer);
/** Words of recordings get times where the model gives them none; streams refuse it. */
STENO_API steno_status steno_options_use_aligner(steno_options* options, const steno_aligner* aligner);
/** Texts of segments and of final results get punctuation. */
STENO_API steno_status steno_options_use_punctuator(steno_options* options, const steno_punctuator* punctuator);
/** Speech is found first; takes the place of the option "vad". */
STENO_API steno_status steno_options_use_vad(steno_options* options, const steno_vad* vad);

/* Recordings */

/** Takes what is done and what there is, in seconds; returns 0 to go on, else the call ends with STENO_CANCELLED. */
typedef int (*steno_progress)(double done, double total, void* user);

/** A whole recording. `options` may be NULL. */
STENO_API steno_status steno_transcribe(const steno_model* model, const float* samples, size_t count,
                                        const steno_options* options, steno_result** result, char** error);
/** The same; `progress` is called on this thread. */
STENO_API steno_status steno_transcribe_with_progress(const steno_model* model, const float* samples, size_t count,
                                                      const steno_options* options, steno_progress progress, void* user,
                                                      steno_result** result, char** error);

/** A part of a recording. Texts live as long as the result or the call of your callback; NULL where there is none. */
typedef struct steno_segment {
  size_t size;          /**< sizeof(steno_segment); set it before the call */
  double start, end;    /**< seconds */
  const char* text;     /**< never NULL */
  const char* language; /**< as the model names it */
  const char* speaker;  /**< who says it */
  size_t word_count;    /**< 0 where the model has no words */
  int has_score;        /**< 1 where `score` was computed */
  double score;         /**< logarithm of a probability */
} steno_segment;

/** A word, or a character of a script without words. */
typedef struct steno_word {
  size_t size;         /**< sizeof(steno_word); set it before the call */
  double start, end;   /**< seconds; only where has_times is 1 */
  int has_times;       /**< 1 where the word has times */
  const char* text;    /**< without white space around it; never NULL */
  float confidence;    /**< probability */
  const char* speaker; /**< who says it; NULL where nobody knows */
} steno_word;

STENO_API void steno_result_free(steno_result* result);
/** All of the text. */
STENO_API const char* steno_result_text(const steno_result* result);
/** Of the first segment that has one; NULL where none has. */
STENO_API const char* steno_result_language(const steno_result* result);
/** Seconds of audio. */
STENO_API double steno_result_duration(const steno_result* result);
STENO_API size_t steno_result_segment_count(const steno_result* result);
STENO_API steno_status steno_result_segment(const steno_result* result, size_t index, steno_segment* segment);
STENO_API steno_status steno_result_word(const steno_result* result, size_t segment, size_t index, steno_word* word);

/* Speakers, speech, words, punctuation */

/** Loads a diarization model. Files and threads as in steno_model_load(). */
STENO_API steno_status steno_diarizer_load(const char* path, int threads, steno_diarizer** diarizer, char** error);
STENO_API void steno_diarizer_free(steno_diarizer* diarizer);
/** Samples a second that it expects. */
STENO_API int steno_diarizer_sample_rate(const steno_diarizer* diarizer);
/** How many speakers it can distinguish. */
STENO_API size_t steno_diarizer_speakers(const steno_diarizer* diarizer);
/** 1 where recordings of any length take constant memory; others keep the samples. */
STENO_API int steno_diarizer_streams(const steno_diarizer* diarizer);
/** Who speaks when in a whole recording: segments with speakers "speaker_0", ... and without texts, in the order of
 * their starts; those of several speakers may overlap. `options` of diarizers, or NULL. */
STENO_API steno_status steno_diarize(const steno_diarizer* diarizer, const float* samples, size_t count,
                                     const steno_options* options, steno_result** result, char** error);

/** A detector of speech: "energy", which takes samples of `sample_rate`, or a model's file, which has its own rate. */
STENO_API steno_status steno_vad_load(const char* name, int sample_rate, steno_vad** vad, char** error);
STENO_API void steno_vad_free(steno_vad* vad);
/** "energy_vad", "fsmn_vad", ... */
STENO_API const char* steno_vad_name(const steno_vad* vad);
/** Samples a second that it expects. */
STENO_API int steno_vad_sample_rate(const steno_vad* vad);
/** Where somebody speaks in a whole recording: segments without texts. `options` of detectors, or NULL. */
STENO_API steno_status steno_detect(const steno_vad* vad, const float* samples, size_t count,
                                    const steno_options* options, steno_result** result, char** error);

/** Loads a model for forced alignment. */
STENO_API steno_status steno_aligner_load(const char* path, int threads, steno_aligner** aligner, char** error);
STENO_API void steno_aligner_free(steno_aligner* aligner);
/** Samples a second that it expects. */
STENO_API int steno_aligner_sample_rate(const steno_aligner* aligner);
/** Seconds of the longest recording that steno_align() takes. */
STENO_API double steno_aligner_max_seconds(const steno_aligner* aligner);
/** When each word of `text` is spoken: one segment with words. `language` as the model names it; NULL: it is not
 * known. */
STENO_API steno_status steno_align(const steno_aligner* aligner, const float* samples, size_t count, const char* text,
                                   const char* language, steno_result** result, char** error);

/** Loads a punctuation model. */
STENO_API steno_status steno_punctuator_load(const char* path, int threads, steno_punctuator** punctuator,
                                             char** error);
STENO_API void steno_punctuator_free(steno_punctuator* punctuator);
/** `text` with punctuation; give it to steno_free(). */
STENO_API steno_status steno_punctuate(const steno_punctuator* punctuator, const char* text, char** punctuated,
                                       char** error);

/* Streams */

/** What a stream found out. Each partial result replaces the one before; a final one settles its utterance. */
typedef struct steno_event {
  size_t size;             /**< sizeof(steno_event) of the library */
  int final;               /**< 1: the utterance will not change any more */
  steno_segment utterance; /**< from its beginning as far as was listened; words in final results alone */
  size_t stable;           /**< so many bytes of the text will not change any more */
  const char* endpoint;    /**< what ended the utterance: "endpoint", "end_of_turn", ...; NULL: the end of the audio */
  int has_eot_confidence;  /**< 1 where the model has a probability that the turn has ended */
  double eot_confidence;   /**< that probability */
  const void* words;       /**< for steno_event_word() */
} steno_event;

/** Takes an event, which lives as long as the call. Returns 0 to go on; else the call that it came from ends with
 * STENO_CANCELLED and the stream is over. It must not call the stream. */
typedef int (*steno_sink)(const steno_event* event, void* user);

/** Begins a stream that is recognised. `options` may be NULL. */
STENO_API steno_status steno_stream_open(const steno_model* model, const steno_options* options, steno_sink sink,
                                         void* user, steno_stream** stream, char** error);
/** Who speaks when, as it settles: final events without texts, one for each turn, in the order of their starts. They
 * are the segments of steno_diarize(). */
STENO_API steno_status steno_diarizer_stream_open(const steno_diarizer* diarizer, const steno_options* options,
                                                  steno_sink sink, void* user, steno_stream** stream, char** error);
/** Where somebody speaks, as it comes: an event that is not final where speech begins, a final one where it ends. */
STENO_API steno_status steno_vad_stream_open(const steno_vad* vad, const steno_options* options, steno_sink sink,
                                             void* user, steno_stream** stream, char** error);
/** More samples, any number of them. Events come within the call, on this thread. */
STENO_API steno_status steno_stream_push(steno_stream* stream, const float* samples, size_t count, char** error);
/** The end: what is left is recognised, and the last final event comes. The stream is over. */
STENO_API steno_status steno_stream_finish(steno_stream* stream, char** error);
/** 1 after steno_stream_finish(), or an endpoint behind which it does not go on. */
STENO_API int steno_stream_over(const steno_stream* stream);
/** A word of the event's utterance, from within your callback. */
STENO_API steno_status steno_event_word(const steno_event* event, size_t index, steno_word* word);
STENO_API void steno_stream_free(steno_stream* stream);

#ifdef __cplusplus
}
#endif
#endif
