// A client of /v1/realtime: events as JSON, audio as base64.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transcriber/websocket.hpp"

namespace steno::test {

inline std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : digits[bits >> (18 - 6 * k) & 63u];
  }
  return out;
}

/// The samples of a WAV file of 16-bit PCM with a header of 44 bytes.
inline std::vector<std::int16_t> pcm_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::int16_t> pcm((all.size() - 44) / 2);
  for (std::size_t i = 0; i < pcm.size(); ++i)
    pcm[i] = static_cast<std::int16_t>(static_cast<unsigned char>(all[44 + 2 * i]) |
                                       static_cast<unsigned char>(all[45 + 2 * i]) << 8);
  return pcm;
}
/// From 16 kHz to 24 kHz, by straight lines.
inline std::vector<std::int16_t> at_24_khz(std::span<const std::int16_t> pcm) {
  std::vector<std::int16_t> out;
  for (std::size_t i = 0; i * 2 / 3 + 1 < pcm.size(); ++i) {
    const std::size_t at = i * 2 / 3;
    const double rest = static_cast<double>(i) * 2 / 3 - static_cast<double>(at);
    out.push_back(static_cast<std::int16_t>(pcm[at] * (1 - rest) + pcm[at + 1] * rest));
  }
  return out;
}

class realtime_client {
 public:
  /// `status` of the handshake is 101 where there is a session.
  explicit realtime_client(int port, const std::string& query = "", const std::string& more = "") : ws_(port) {
    status = ws_.request("GET /v1/realtime" + query +
                             " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                             more + "\r\n",
                         &head);
  }
  void say(const nlohmann::json& event) { ws_.text(event.dump()); }
  void append(std::span<const std::int16_t> pcm) {
    say({{"type", "input_audio_buffer.append"},
         {"audio", base64({reinterpret_cast<const char*>(pcm.data()), pcm.size_bytes()})}});
  }
  /// A tenth of a second each.
  void append_all(std::span<const std::int16_t> pcm, std::size_t portion) {
    for (std::size_t at = 0; at < pcm.size(); at += portion)
      append(pcm.subspan(at, std::min(portion, pcm.size() - at)));
  }
  /// The next event; null when there is none.
  nlohmann::json hear() {
    const auto m = ws_.read();
    if (!m || m->opcode != 1) return {};
    return nlohmann::json::parse(m->data);
  }
  /// Up to and with the next event of this type; `all` gets every one.
  nlohmann::json hear(const std::string& type, std::vector<nlohmann::json>* all = nullptr) {
    for (;;) {
      nlohmann::json e = hear();
      if (all != nullptr && !e.is_null()) all->push_back(e);
      if (e.is_null() || e["type"] == type) return e;
    }
  }
  websocket& socket() { return ws_; }

  int status = 0;
  std::string head;

 private:
  websocket ws_;
};

}  // namespace steno::test
