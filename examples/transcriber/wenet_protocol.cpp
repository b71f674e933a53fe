#include "wenet_protocol.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace steno::app {
namespace {

// Messages are written without a tree of values: the destructor of nlohmann's arrays and objects allocates, and ends
// the program where memory is short. What clients send is small.
using json = nlohmann::json;

constexpr std::size_t longest_signal = 65536;                        // bytes
constexpr std::size_t most_hotwords = 100, longest_hotwords = 4096;  // bytes in all: a prompt is paid for at every step

std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

// What a client wrote, short enough for a message. What is nested is not shown: writing it would be recursive.
std::string shown(const json& j) {
  if (j.is_structured()) return j.is_array() ? "[...]" : "{...}";
  const std::string text = text_of(j);
  if (text.size() <= 80) return text;
  std::size_t n = 80;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0u) == 0x80u) --n;
  return text.substr(0, n) + "...";
}

std::string read_hotwords(const json& list, std::vector<std::string>& hotwords) {
  const char* const wrong = "array of strings is expected for hotwords option";
  if (!list.is_array()) return wrong;
  std::size_t bytes = 0;
  hotwords.clear();
  for (const json& phrase : list) {
    if (!phrase.is_string()) return wrong;
    bytes += phrase.get_ref<const std::string&>().size();
    if (hotwords.size() == most_hotwords || bytes > longest_hotwords)
      return "hotwords: at most " + std::to_string(most_hotwords) + " phrases of " + std::to_string(longest_hotwords) +
             " bytes in all";
    hotwords.push_back(phrase.get<std::string>());
  }
  return {};
}

// The last key of a message, if there is one, and its brace.
std::string ending(endpoint_kind k) {
  if (k == endpoint_kind::none) return "}";
  return std::string(R"(,"endpoint":")").append(endpoint_name(k)).append("\"}");
}

// A key of the start message; returns why it is refused.
std::string take(const std::string& key, const json& value, client_signal& s, int sample_rate) {
  if (key == "signal") return {};
  if (key == "nbest") {
    if (!value.is_number_integer() || value < 1 || value > 1000) return "integer is expected for nbest option";
    s.nbest = value.get<std::size_t>();
  } else if (key == "continuous_decoding") {
    if (!value.is_boolean()) return "boolean true or false is expected for continuous_decoding option";
    s.live.continuous = value.get<bool>();
  } else if (key == "sample_rate") {
    if (value != sample_rate)
      return "sample_rate " + shown(value) + ": this model takes " + std::to_string(sample_rate) + " samples a second";
  } else if (key == "language") {
    if (value != "auto") return "language " + shown(value) + ": a session cannot be told its language (only \"auto\")";
  } else if (key == "hotwords") {
    return read_hotwords(value, s.live.hotwords);
  } else {
    return "unknown key " + shown(key) +
           " in the start message (known: signal, nbest, continuous_decoding, sample_rate, language, hotwords)";
  }
  return {};
}

}  // namespace

client_signal read_signal(const std::string& text, const session_options& usual, int sample_rate) {
  client_signal s;
  const json j = text.size() > longest_signal ? json() : json::parse(text, nullptr, false);
  if (!j.is_object()) {
    s.refused = "Wrong protocol";
    return s;
  }
  const auto signal = j.find("signal");
  if (signal == j.end() || !signal->is_string()) {
    s.refused = "Wrong message header";
    return s;
  }
  s.start = *signal == "start";
  if (!s.start && *signal != "end") s.refused = "Unexpected signal type";
  if (!s.start) return s;
  s.live = usual;
  s.live.continuous = false;
  for (const auto& [key, value] : j.items()) {
    s.refused = take(key, value, s, sample_rate);
    if (!s.refused.empty()) break;
  }
  return s;
}

std::string ready_message() { return R"({"status":"ok","type":"server_ready"})"; }

std::string result_message(const session_event& e, std::size_t nbest) {
  const bool final = e.final();
  std::string list = "[";
  for (std::size_t i = 0; i < std::min(nbest, e.nbest.size()); ++i) {
    const session_alternative& a = e.nbest[i];
    list.append(i > 0 ? "," : "").append(R"({"sentence":)").append(text_of(json(a.text)));
    if (final) {
      list.append(R"(,"word_pieces":[)");
      for (const auto& p : a.pieces) {
        list.append(list.back() == '[' ? "" : ",").append(R"({"word":)").append(text_of(json(p.text)));
        list.append(R"(,"start":)").append(std::to_string(p.start_ms));
        list.append(R"(,"end":)").append(std::to_string(p.end_ms)).append("}");
      }
      list.append("]");
    }
    list.append("}");
  }
  list.append("]");
  std::string message = R"({"status":"ok","type":")";
  message.append(final ? "final_result" : "partial_result").append(R"(","nbest":)").append(text_of(json(list)));
  return message.append(ending(e.endpoint));
}

std::string speech_end_message(endpoint_kind why) {
  return std::string(R"({"status":"ok","type":"speech_end")").append(ending(why));
}

std::string failed_message(std::string_view why) {
  return std::string(R"({"status":"failed","message":)").append(text_of(json(why))).append("}");
}

}  // namespace steno::app
