// SPDX-License-Identifier: Apache-2.0
#include "http_header.hpp"

#include <algorithm>
#include <boost/beast/http/field.hpp>
#include <cstdint>
#include <functional>
#include <limits>

namespace steno::app {
namespace {

namespace http = boost::beast::http;

std::string_view header_view(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void prepare_header(http_header_parser& parser) {
  parser.header_limit(8192);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // Boost 1.74 takes "none" for 0
}

std::optional<request_facts> facts_of(const client_socket& socket, const http_header_parser& parser) {
  request_facts facts;
  boost::system::error_code e;
  const auto local = socket.local_endpoint(e);
  if (e) return std::nullopt;
  facts.local_address = local.address().to_string();
  facts.local_port = local.port();
  for (const auto& field : parser.get()) {
    if (field.name() == http::field::origin) facts.origins.emplace_back(field.value());
    if (field.name() == http::field::host) facts.hosts.emplace_back(field.value());
  }
  return facts;
}

offered_protocols::offered_protocols(const http_header_parser& parser) {
  std::string_view rest = header_view(parser.get()[http::field::sec_websocket_protocol]);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) one.remove_prefix(1);
    while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) one.remove_suffix(1);
    constexpr std::string_view with_key = "openai-insecure-api-key.";
    if (one == "realtime") realtime = true;
    if (one == "openai-beta.realtime-v1") beta = true;
    if (one.starts_with(with_key)) key = one.substr(with_key.size());
  }
}

std::uint64_t client_of(const server_hall& hall, const http_header_parser& parser, std::string_view from) {
  std::string_view who = from.substr(0, from.rfind(':'));
  if (hall.options.keys.needed()) {
    const auto shown = header_view(parser.get()[http::field::authorization]);
    who = shown.empty() ? offered_protocols(parser).key : shown.substr(shown.find_last_of(' ') + 1);
  }
  return std::hash<std::string_view>()(who);
}

std::string rate_message(const server_hall& hall) {
  return "a client may begin " + std::to_string(hall.options.per_minute) + " requests and sessions a minute";
}

bool has_key(const server_hall& hall, const http_header_parser& parser) {
  if (!hall.options.keys.needed()) return true;
  const auto& request = parser.get();
  const auto shown = request.count(http::field::authorization);
  if (shown == 0) return hall.options.keys.holds(offered_protocols(parser).key);
  return shown == 1 && hall.options.keys.allows(header_view(request[http::field::authorization]));
}

}  // namespace steno::app
