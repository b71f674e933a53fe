// An answer to who is not let in, over HTTP, such that it arrives.
//
// A socket that is closed while something of the client's is unread throws the answer away; so what the client still
// says is read for two seconds. Tested in tests/transcriber/server_faults_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "client_socket.hpp"

namespace steno::app {

/// `status` is "403 Forbidden" or the like; `why` is its body, one line. At most 64 at a time: then the socket is just
/// closed. Throws std::bad_alloc.
void say_farewell(client_socket socket, std::string_view status, std::string_view why);

}  // namespace steno::app
