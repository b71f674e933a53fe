// A server for many clients, on one port: HTTP/1.1 as OpenAI's API has it (http_connection.hpp), and the
// protocol of WeNet's runtime over WebSocket (runtime/core/websocket), many streams at once.
//
//   client                                    server
//   {"signal": "start", "nbest": 1,           {"status": "ok", "type": "server_ready"}
//    "continuous_decoding": false}
//   binary: 16-bit PCM, 16 kHz                {"status": "ok", "type": "partial_result", "nbest": "[...]"}
//   {"signal": "end"}                         {"status": "ok", "type": "final_result", "nbest": "[...]"}
//                                             {"status": "ok", "type": "speech_end"}, then the connection is closed
// "nbest" is JSON in a string, as the original's clients expect: sentences, in final results with word_pieces in ms.
// Without continuous_decoding the first endpoint ends the speech. Anything else is answered with {"status": "failed",
// "message": ...} and the end of the connection. docs/server.md says it all, with the limits.
//
// A connection that stalls costs a timer, one that floods waits in its own socket: a message is read when the one
// before is decoded, and decoded half a second at a time, in turn with the other connections (connection.cpp). Who may
// connect is said by access.hpp and places.hpp. One thread accepts connections and takes signals, and never decodes.
// Recordings that come over HTTP are recognised by threads of their own (work_queue.hpp), as many again.
// Tested in tests/transcriber/server_test.cpp and server_faults_test.cpp, and as a program in
// tests/programs/steno_serve_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/any_session.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api_keys.hpp"
#include "audio.hpp"
#include "model_shelf.hpp"

namespace steno::app {

struct server_options {
  std::string host = "127.0.0.1";  ///< an address or a name; of a name, all of its addresses
  int port = 10086;                ///< 0: any that is free
  int threads = 1;                 ///< that decode sessions, and again so many that recognise recordings
  int connections = 64;            ///< more are refused (503)
  int per_peer = 0;  ///< more of one address are refused (429); 0: a quarter of all, without a limit for this machine
  int message_bytes = 1 << 20;  ///< a longer message ends its connection
  int idle_seconds = 30;   ///< a client may keep the server waiting so long between two tenths of a second of audio
  int drain_seconds = 10;  ///< sessions may take so long to end when the server is drained
  std::vector<std::string> allow_origins = {};  ///< of web pages that may connect, beside its own; "*": all
  api_keys keys = {};                           ///< clients must have one, where there are any
  session_options live = {};                    ///< of every session of the one model
  pipelines::session_models beside = {};        ///< of every session of the one model; must outlive the server
  std::string model_id = "default";             ///< what requests call the one model
  int max_queue = 16;                           ///< recordings that wait for a thread; more are refused (429)
  int max_batch = 8;                            ///< of them are recognised together, where the model can
  int body_bytes = 100 << 20;                   ///< of a request; more is refused (413)
  int request_seconds = 0;                      ///< after which a recording is given up (504); 0: never
  int per_minute = 0;                           ///< requests and sessions that a client may begin (429); 0: any number
  int sessions = 10000;                         ///< WebSocket sessions at once; more are refused (503)
  double audio_seconds = 7200;                  ///< of a recording; more is refused (413)
  audio_options reading = {};                   ///< how recordings are opened
  bool log_texts = false;                       ///< the log has what was said
  transcribe_options recording = {};            ///< what is asked of the one model for each
};

class server {
 public:
  /// Listens; `model` must outlive the server. `log` is told one line per connection, from any thread, and must not
  /// wait; it may be empty. Throws steno::error when the address cannot be had, an origin is none, or the model refuses
  /// the request.
  server(const transcriber& model, const server_options& options, std::function<void(const std::string&)> log = {});
  /// The same with several models, at least one, to which what is said of the one model does not apply.
  server(std::unique_ptr<model_shelf> models, const server_options& options,
         std::function<void(const std::string&)> log = {});
  ~server();
  int port() const;
  /// "127.0.0.1:10086, [::1]:10086"
  std::string addresses() const;
  /// Serves until stop(), or until drain() is done; returns the signal that was the reason, or 0. Goes on with fewer
  /// threads where not all can be had; throws steno::error when there is none.
  int run();
  /// Ends everything as it is. From any thread.
  void stop();
  /// Accepts nobody any more, ends the audio of every session, sends its final result and a close frame; run() then
  /// returns, after drain_seconds at the latest. From any thread.
  void drain();
  /// SIGINT and SIGTERM drain the server while run() runs; a second one leaves the process at once, with 128 + its
  /// number, and so does the first one when a session holds a thread for two seconds longer than drain_seconds.
  void drain_at_signals();

 private:
  struct body;
  std::unique_ptr<body> body_;
};

}  // namespace steno::app
