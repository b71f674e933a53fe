// A client that speaks HTTP/1.1: one request after the other, each answered before the next is read.
//
//   POST /v1/audio/transcriptions, /v1/audio/translations    a form (speech_form.hpp), recognised by the queue's
//   threads GET  /v1/models, /v1/models/ID, /health, /ready, /metrics
// A body goes to a file without a name as it comes, so a connection takes some 150 KiB however long it is. Everything
// else is answered with an error in the form of OpenAI's API (api_error.hpp). Tested in
// tests/programs/steno_service_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/beast/core/flat_buffer.hpp>

#include <memory>
#include <string>

#include "client_socket.hpp"
#include "http_header.hpp"
#include "places.hpp"
#include "server_hall.hpp"

namespace steno::app {

/// What a connection is made of, before it is known which protocol it will speak.
struct arrival {
  client_socket socket;
  std::string from;  ///< the peer's address, for the log
  std::unique_ptr<seat> place;
  std::shared_ptr<const char> share;
};

/// Goes on with a client whose first request has been read as far as its header; `more` came behind it. To be called on
/// the socket's thread. `e`: it is no request, for this reason. Throws std::bad_alloc.
void begin_http(arrival who, server_hall& hall, std::unique_ptr<http_header_parser> header,
                const boost::beast::flat_buffer& more, boost::system::error_code e = {});

}  // namespace steno::app
