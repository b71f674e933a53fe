// A transcription session of OpenAI's API over WebSocket: audio is appended, turns are found or committed, and each is
// a conversation item whose text comes while it is spoken.
//
//   client                                            server
//                                                     session.created
//   session.update {session}                          session.updated
//   input_audio_buffer.append {audio}                 input_audio_buffer.speech_started {item_id}
//                                                     conversation.item.input_audio_transcription.delta {delta}
//                                                     input_audio_buffer.speech_stopped
//   input_audio_buffer.commit (without server_vad)    input_audio_buffer.committed
//                                                     conversation.item.added, conversation.item.done
//                                                     conversation.item.input_audio_transcription.completed
//                                                     {transcript}
// docs/server.md says it all. Tested in tests/programs/steno_realtime_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "live_protocol.hpp"
#include "server_hall.hpp"

namespace steno::app {

/// How a client asks for a session.
struct realtime_request {
  std::string target;  ///< "/v1/realtime?model=NAME"
  bool beta = false;   ///< in the form of the API's beta
};

/// Throws std::bad_alloc. What is asked for and cannot be had is told in the session's first event, its last.
std::unique_ptr<live_protocol> start_realtime_session(server_hall& hall, live_host& host,
                                                      const realtime_request& asked);

}  // namespace steno::app
