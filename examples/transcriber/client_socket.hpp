// The sockets and timers of the server, with the executor that they have: their thread's.
//
// Asio's usual sockets hold any executor behind a pointer and copy it in functions that promise not to throw, and its
// strands take memory in a destructor: where memory is short, both end the program. An io_context that one thread runs
// needs neither.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/wait_traits.hpp>
#include <chrono>

namespace steno::app {

using thread_executor = boost::asio::io_context::executor_type;
using client_socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, thread_executor>;
using client_timer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                      thread_executor>;
using door = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, thread_executor>;

}  // namespace steno::app
