// What the header of a request says about who asks: its origin and host, its key, the protocols that it offers.
//
// Tested in tests/programs/steno_service_test.cpp and steno_realtime_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "access.hpp"
#include "client_socket.hpp"
#include "server_hall.hpp"

namespace steno::app {

using http_header_parser = boost::beast::http::request_parser<boost::beast::http::empty_body>;

/// Of a request that is about to be read. Bodies of any length may follow: they are bounded where they are read.
void prepare_header(http_header_parser& parser);

/// Who asks (access.hpp); nothing when the connection has ended.
std::optional<request_facts> facts_of(const client_socket& socket, const http_header_parser& parser);

/// Sec-WebSocket-Protocol, in which a page of OpenAI's API also sends its key: it can send no other field. Refers to
/// the header.
struct offered_protocols {
  explicit offered_protocols(const http_header_parser& parser);
  bool realtime = false, beta = false;
  std::string_view key = {};
};

/// Whose request it is, for what is fair between clients: a key's, where it shows one that the server wants, else those
/// of an address. `from`: "127.0.0.1:40000"
std::uint64_t client_of(const server_hall& hall, const http_header_parser& parser, std::string_view from);
/// What a client is told that begins too many.
std::string rate_message(const server_hall& hall);

/// Whether it shows a key, where the server wants one.
bool has_key(const server_hall& hall, const http_header_parser& parser);

}  // namespace steno::app
