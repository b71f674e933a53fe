// The messages of WeNet's runtime (runtime/core/websocket) as values: what clients send, and what they are sent.
//
// Described in docs/server.md; tested in tests/transcriber/wenet_protocol_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/streaming/session.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace steno::app {

/// A text message of a client.
struct client_signal {
  std::string refused;  ///< why it is; empty: it is not
  bool start = false;   ///< the session begins; otherwise its audio ends
  std::size_t nbest = 1;
  std::string model = {};  ///< that is asked for, also where the message is refused; empty: none
  bool speakers = false;   ///< final results tell who said them
  session_options live = {};
};
/// `usual` is what a session is without wishes; `sample_rate` is the model's. Every key of the start message is
/// honoured, or the message is refused by the key's name.
client_signal read_signal(const std::string& text, const session_options& usual, int sample_rate);

std::string ready_message();
/// At most `nbest` sentences; `small`: A to Z become a to z, as the runtime's post-processor writes them. Where the
/// utterance has a speaker it is told, too.
std::string result_message(const session_event& e, std::size_t nbest, bool small = false);
/// `why` is what ended the last utterance.
std::string speech_end_message(endpoint_kind why);
std::string failed_message(std::string_view why);

}  // namespace steno::app
