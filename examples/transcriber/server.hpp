// A WebSocket server that speaks the protocol of WeNet's runtime (runtime/core/websocket), many streams over one model.
//
//   client                                    server
//   {"signal": "start", "nbest": 1,           {"status": "ok", "type": "server_ready"}
//    "continuous_decoding": false}
//   binary: 16-bit PCM, 16 kHz                {"status": "ok", "type": "partial_result", "nbest": "[...]"}
//   {"signal": "end"}                         {"status": "ok", "type": "final_result", "nbest": "[...]"}
//                                             {"status": "ok", "type": "speech_end"}, then the connection is closed
// "nbest" is JSON in a string, as the original's clients expect: sentences, in final results with word_pieces in ms.
// Without continuous_decoding the first endpoint ends the speech. Anything else is answered with {"status": "failed",
// "message": ...} and the end of the connection.
//
// A connection that stalls costs a timer, one that floods waits in its own socket: a message is read when the one
// before is decoded, and decoded half a second at a time, in turn with the other connections.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "live.hpp"

namespace steno::app {

struct server_options {
  std::string host = "127.0.0.1";
  int port = 10086;  ///< 0: any that is free
  int threads = 1;
  int connections = 64;         ///< more are refused (503)
  int message_bytes = 1 << 20;  ///< a longer message ends its connection
  int idle_seconds = 30;        ///< a message must arrive, or an answer be taken, within this time
  session_options live;
};

class server {
 public:
  /// Listens; `model` must outlive the server. `log` is told one line per connection; it may be empty. Throws
  /// steno::error when the address cannot be had or the model refuses the request.
  server(const live_model& model, const server_options& options, std::function<void(const std::string&)> log = {});
  ~server();
  int port() const;
  /// Serves on `threads` threads (this one among them) until stop().
  void run();
  /// From any thread.
  void stop();
  /// run() also ends at SIGINT and SIGTERM.
  void stop_at_signals();

 private:
  struct body;
  std::unique_ptr<body> body_;
};

}  // namespace steno::app
