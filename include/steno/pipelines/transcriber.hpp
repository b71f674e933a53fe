// steno/pipelines/transcriber.hpp - any model from a file, recordings of any length, one kind of result.
//
// The architecture named in the file picks the model; a new family adds itself to any_model.hpp. A transcriber
// is const after loading and may be shared by threads, each with its own context. Tested in tests/pipelines.
#pragma once
#include <steno/core/result.hpp>
#include <steno/pipelines/any_model.hpp>
#include <steno/pipelines/long_audio.hpp>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace steno::inline STENO_ABI {

/// Facts about a loaded model, for people.
struct model_summary {
  std::string architecture, name;
  int sample_rate = 0;
  std::size_t parameters = 0, tensors = 0, vocabulary = 0;
  std::map<std::string, std::size_t> bytes_by_format;
  std::vector<std::string> languages;
  std::vector<std::pair<std::string, std::string>> settings;  ///< numbers and strings of the file's metadata
};

class transcriber {
 public:
  /// Loads a packaged GGUF file. `run` packs the weights in parallel. Throws steno::error.
  explicit transcriber(const std::string& path, const executor& run = {}) : transcriber(gguf_file(path), run) {}
  /// The same from an open file; `image` owns its bytes when they are in memory.
  explicit transcriber(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {})
      : model_(open_model(std::move(file), run, std::move(image))) {}

  std::string_view model_name() const {
    return std::visit([](const auto& m) { return std::remove_cvref_t<decltype(m)>::architecture; }, model_);
  }
  /// Samples per second that transcribe() expects.
  int sample_rate() const {
    return std::visit([](const auto& m) { return m.sample_rate; }, model_);
  }
  std::vector<std::string> languages() const {
    return std::visit([](const auto& m) { return m.languages(); }, model_);
  }
  const any_model& model() const noexcept { return model_; }

  model_summary summary() const {
    model_summary s;
    std::visit([&](const auto& m) { describe(*m.memory.file, s); }, model_);
    s.architecture = model_name();
    s.sample_rate = sample_rate();
    s.languages = languages();
    return s;
  }

  /// Mono samples in [-1, 1] at sample_rate(). Throws steno::error for options the model does not know.
  result transcribe(std::span<const float> pcm, const transcribe_options& o, context& c) const {
    result r;
    r.model = model_name();
    const double rate = sample_rate();
    r.duration = static_cast<double>(pcm.size()) / rate;
    for (const audio_range& piece : split_at_pauses(pcm, sample_rate(), o.longest_segment)) {
      const auto clip =
          pcm.subspan(static_cast<std::size_t>(piece.begin), static_cast<std::size_t>(piece.end - piece.begin));
      append(r, std::visit([&](const auto& m) { return recognise(m, clip, o, c); }, model_),
             static_cast<double>(piece.begin) / rate);
      o.progress(static_cast<double>(piece.end) / rate, r.duration);
    }
    if (r.segments.size() == 1) r.extra = r.segments[0].extra;
    return r;
  }

 private:
  static void append(result& r, segment s, double offset) {
    if (s.token_ids.empty()) return;
    s.start += offset;
    s.end += offset;
    for (word& w : s.words) {
      w.start += offset;
      w.end += offset;
    }
    if (r.language.empty()) r.language = s.language;
    if (!r.text.empty() && !s.text.empty()) {
      // Scripts without spaces are joined without one.
      const bool ascii =
          static_cast<unsigned char>(r.text.back()) < 0x80 && static_cast<unsigned char>(s.text.front()) < 0x80;
      if (ascii) r.text += ' ';
    }
    r.text += s.text;
    r.segments.push_back(std::move(s));
  }

  static void describe(const gguf_file& file, model_summary& s) {
    s.name = file.text("general.name").value_or("");
    s.tensors = file.size();
    for (std::size_t i = 0; i < file.size(); ++i) {
      const tensor_ref t = file.tensor(i);
      s.parameters += static_cast<std::size_t>(t.rows() * t.cols());
      s.bytes_by_format[std::string(info(t.format).name)] += t.bytes.size();
    }
    for (const gguf_value& v : file.values()) {
      if (v.key == "tokenizer.ggml.tokens") s.vocabulary = v.count;
      if (v.type == gguf_type::array) continue;
      if (v.type == gguf_type::string) {
        s.settings.emplace_back(v.key, *v.text());
      } else if (const auto n = v.number()) {
        std::string text = std::to_string(*n);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.ends_with('.')) text.pop_back();
        s.settings.emplace_back(v.key, text);
      }
    }
  }

  any_model model_;
};

}  // namespace steno::inline STENO_ABI
