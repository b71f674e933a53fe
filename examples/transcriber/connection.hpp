// One client of the server, from its request to the end of its connection.
//
// Tested through tests/transcriber/server_test.cpp and server_faults_test.cpp.
#pragma once
#include <boost/asio/ip/tcp.hpp>

#include "server_hall.hpp"

namespace steno::app {

/// Takes a client in, or tells it why not. Its handlers run on the socket's executor, which must be a strand. Throws
/// std::bad_alloc.
void begin_connection(boost::asio::ip::tcp::socket socket, server_hall& hall);

}  // namespace steno::app
