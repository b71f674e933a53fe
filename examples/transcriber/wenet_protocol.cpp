// SPDX-License-Identifier: Apache-2.0
#include "wenet_protocol.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace steno::app {
namespace {

// Messages are read and written without a tree of values: the destructor of nlohmann's arrays and objects allocates,
// and ends the program where memory is short. Values that hold no others are safe.
using json = nlohmann::json;

constexpr std::size_t longest_signal = 65536, longest_language = 64, longest_model = 256;  // bytes
constexpr std::size_t most_hotwords = 100, longest_hotwords = 4096;  // bytes in all: a prompt is paid for at every step

std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

// What a client wrote, short enough for a message.
std::string shown(const json& j) {
  const std::string text = text_of(j);
  if (text.size() <= 80) return text;
  std::size_t n = 80;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0u) == 0x80u) --n;
  return text.substr(0, n) + "...";
}

// The last key of a message, if there is one, and its brace.
std::string ending(endpoint_kind k) {
  if (k == endpoint_kind::none) return "}";
  return std::string(R"(,"endpoint":")").append(streaming::endpoint_name(k)).append("\"}");
}

// Reads a client's message as nlohmann's parser comes across its parts. What is refused is told in the end: a message
// that is no JSON is refused for that alone, and one that ends the audio for nothing else.
class signal_reader {
 public:
  signal_reader(const session_options& usual, int sample_rate) : sample_rate_(sample_rate) {
    signal_.live = usual;
    signal_.live.continuous = false;
  }

  bool null() { return scalar(json()); }
  bool boolean(bool v) { return scalar(json(v)); }
  bool number_integer(json::number_integer_t v) { return scalar(json(v)); }
  bool number_unsigned(json::number_unsigned_t v) { return scalar(json(v)); }
  bool number_float(json::number_float_t v, const std::string&) { return scalar(json(v)); }
  bool string(std::string& v) { return scalar(json(std::move(v))); }
  bool binary(json::binary_t&) { return false; }  // JSON has none
  bool key(std::string& k) {
    if (depth_ == 1) key_ = std::move(k);
    return true;
  }
  bool start_object(std::size_t) { return nested("{...}", false); }
  bool end_object() { return --depth_, true; }
  bool start_array(std::size_t) { return nested("[...]", true); }
  bool end_array() { return --depth_, true; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) { return object_ = false; }

  client_signal result() {
    if (!object_) return {.refused = "Wrong protocol"};
    if (kind_.empty()) return {.refused = "Wrong message header"};
    if (kind_ == "end") return {};
    if (kind_ != "start") return {.refused = "Unexpected signal type"};
    signal_.start = true;
    signal_.refused = std::move(why_);
    return std::move(signal_);
  }

 private:
  bool scalar(const json& value) {
    if (depth_ == 0) return false;  // the message is no object
    if (depth_ == 1) {
      if (key_ == "hotwords")
        refuse(no_list);
      else
        take(value, shown(value));
    } else if (depth_ == 2 && key_ == "hotwords") {
      hotword(value);
    }
    return true;
  }
  bool nested(const char* as_shown, bool list) {
    if (depth_ == 0) object_ = !list;
    if (depth_ == 1) {
      if (key_ != "hotwords")
        take(json(), as_shown);
      else if (!list)
        refuse(no_list);
      else
        signal_.live.hotwords.clear();
    }
    if (depth_ == 2 && key_ == "hotwords") refuse(no_list);
    ++depth_;
    return object_;
  }

  void take(const json& value, const std::string& as_shown) {
    if (key_ == "signal") {
      kind_ = value.is_string() ? value.get_ref<const std::string&>() : std::string();
    } else if (key_ == "nbest") {
      if (!value.is_number_integer() || value < 1 || value > 1000)
        return refuse("integer is expected for nbest option");
      signal_.nbest = value.get<std::size_t>();
    } else if (key_ == "continuous_decoding") {
      if (!value.is_boolean()) return refuse("boolean true or false is expected for continuous_decoding option");
      signal_.live.continuous = value.get<bool>();
    } else if (key_ == "speakers") {
      if (!value.is_boolean()) return refuse("boolean true or false is expected for speakers option");
      signal_.speakers = value.get<bool>();
    } else if (key_ == "model") {
      if (!value.is_string() || value.get_ref<const std::string&>().empty() ||
          value.get_ref<const std::string&>().size() > longest_model)
        return refuse("model " + as_shown + ": expected the name of a model");
      signal_.model = value.get_ref<const std::string&>();
    } else if (key_ == "sample_rate") {
      if (value != sample_rate_)
        refuse("sample_rate " + as_shown + ": this model takes " + std::to_string(sample_rate_) + " samples a second");
    } else if (key_ == "language") {
      if (!value.is_string() || value.get_ref<const std::string&>().size() > longest_language)
        return refuse("language " + as_shown + ": expected the name of a language, or \"auto\"");
      if (value != "auto") signal_.live.language = value.get_ref<const std::string&>();  // or the server's
    } else {
      refuse(
          "unknown key " + shown(json(key_)) +
          " in the start message (known: signal, model, nbest, continuous_decoding, sample_rate, language, hotwords, "
          "speakers)");
    }
  }
  void hotword(const json& phrase) {
    if (!phrase.is_string()) return refuse(no_list);
    const std::string& text = phrase.get_ref<const std::string&>();
    auto& list = signal_.live.hotwords;
    hotword_bytes_ = list.empty() ? text.size() : hotword_bytes_ + text.size();
    if (list.size() == most_hotwords || hotword_bytes_ > longest_hotwords)
      return refuse("hotwords: at most " + std::to_string(most_hotwords) + " phrases of " +
                    std::to_string(longest_hotwords) + " bytes in all");
    try {
      if (auto parsed = core::parse_hotword(text)) list.push_back(std::move(*parsed));
    } catch (const error& e) {
      refuse(std::string("hotwords: ") + e.what());
    }
  }
  void refuse(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  static constexpr const char* no_list = "array of strings is expected for hotwords option";

  const int sample_rate_;
  client_signal signal_;
  std::string kind_, key_, why_;
  std::size_t depth_ = 0, hotword_bytes_ = 0;
  bool object_ = true;
};

}  // namespace

client_signal read_signal(const std::string& text, const session_options& usual, int sample_rate) {
  signal_reader reader(usual, sample_rate);
  if (text.size() > longest_signal || !json::sax_parse(text, &reader)) return {.refused = "Wrong protocol"};
  return reader.result();
}

std::string ready_message() { return R"({"status":"ok","type":"server_ready"})"; }

std::string result_message(const session_event& e, std::size_t nbest, bool small) {
  const bool final = e.final();
  std::string list = "[";
  for (std::size_t i = 0; i < std::min(nbest, e.nbest.size()); ++i) {
    const streaming::session_alternative& a = e.nbest[i];
    std::string sentence = a.text;
    for (char& c : sentence)
      if (small && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    list.append(i > 0 ? "," : "").append(R"({"sentence":)").append(text_of(json(sentence)));
    if (final) {
      list.append(R"(,"word_pieces":[)");
      const auto piece = [&](const std::string& text, std::int64_t start_ms, std::int64_t end_ms) {
        list.append(list.back() == '[' ? "" : ",").append(R"({"word":)").append(text_of(json(text)));
        list.append(R"(,"start":)").append(std::to_string(start_ms));
        list.append(R"(,"end":)").append(std::to_string(end_ms)).append("}");
      };
      for (const auto& p : a.pieces) piece(p.text, p.start_ms, p.end_ms);
      if (i == 0 && a.pieces.empty() && e.utterance.speaker)  // one of several parts, which has words alone
        for (const word& w : e.utterance.words)
          if (w.how != timing::none) piece(w.text, std::llround(w.start * 1000), std::llround(w.end * 1000));
      list.append("]");
    }
    list.append("}");
  }
  list.append("]");
  std::string message = R"({"status":"ok","type":")";
  message.append(final ? "final_result" : "partial_result").append(R"(","nbest":)").append(text_of(json(list)));
  if (e.utterance.speaker) message.append(R"(,"speaker":)").append(text_of(json(*e.utterance.speaker)));
  return message.append(ending(e.endpoint));
}

std::string speech_end_message(endpoint_kind why) {
  return std::string(R"({"status":"ok","type":"speech_end")").append(ending(why));
}

std::string failed_message(std::string_view why) {
  return std::string(R"({"status":"failed","message":)").append(text_of(json(why))).append("}");
}

}  // namespace steno::app
