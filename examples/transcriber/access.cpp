// SPDX-License-Identifier: Apache-2.0
#include "access.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace steno::app {
namespace {

// Locales must not matter.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool is_name_character(char c) {
  c = lower(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

// The shortest form of an IPv6 address; empty when it is none. ::ffff:1.2.3.4 is 1.2.3.4.
std::string v6_form(const std::string& text) {
  in6_addr address{};
  if (::inet_pton(AF_INET6, text.c_str(), &address) != 1) return {};
  char form[INET6_ADDRSTRLEN];
  if (IN6_IS_ADDR_V4MAPPED(&address)) return ::inet_ntop(AF_INET, address.s6_addr + 12, form, sizeof form);
  return ::inet_ntop(AF_INET6, &address, form, sizeof form);
}

std::string host_form(std::string_view host) {
  if (host.find(':') != std::string_view::npos) return v6_form(std::string(host));
  if (!host.empty() && host.back() == '.') host.remove_suffix(1);  // the root of all names
  if (host.empty() || !std::all_of(host.begin(), host.end(), is_name_character)) return {};
  return lowered(host);
}

// The server's own names, at the end where the request arrived.
bool is_own(const std::string& host, const access_rules& rules, const request_facts& request) {
  if (host.empty()) return false;
  if (host == host_form(request.local_address) || host == host_form(rules.host)) return true;
  return is_loopback(host_form(request.local_address)) && (host == "localhost" || is_loopback(host));
}

std::string quoted_start(const std::string& text) { return std::string(1, '"').append(text, 0, 100).append(1, '"'); }

}  // namespace

bool is_loopback(std::string_view host) {
  in_addr address{};
  if (host == "::1") return true;
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

std::optional<authority> parse_authority(std::string_view text) {
  std::string_view host = text, rest;
  if (!text.empty() && text[0] == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
    rest = text.substr(end + 1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  authority a{.host = host_form(host)};
  if (a.host.empty()) return std::nullopt;
  if (rest.empty()) return a;
  int port = 0;
  const char* const end = rest.data() + rest.size();
  const auto parsed = std::from_chars(rest.data() + 1, end, port);
  if (rest[0] != ':' || parsed.ec != std::errc() || parsed.ptr != end || port < 0 || port > 65535) return std::nullopt;
  a.port = port;
  return a;
}

std::optional<origin> parse_origin(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  origin o{.scheme = lowered(text.substr(0, end)), .at = {}};
  const auto at = parse_authority(text.substr(end + 3));
  if (!at || !std::all_of(o.scheme.begin(), o.scheme.end(), [](char c) { return is_name_character(c) || c == '+'; }))
    return std::nullopt;
  o.at = *at;
  if (!o.at.port && (o.scheme == "http" || o.scheme == "ws")) o.at.port = 80;
  if (!o.at.port && (o.scheme == "https" || o.scheme == "wss")) o.at.port = 443;
  return o;
}

bool allow_origin(access_rules& rules, std::string_view text) {
  if (text == "*") return rules.any = true;
  const auto o = parse_origin(text);
  if (o) rules.allowed.push_back(*o);
  return o.has_value();
}

std::string refusal(const access_rules& rules, const request_facts& request) {
  if (rules.any) return {};
  if (request.origins.size() > 1 || request.hosts.size() > 1) return "more than one Origin or Host";
  if (!request.origins.empty()) {
    const auto from = parse_origin(request.origins[0]);
    const auto known = [&](const origin& o) { return o == *from; };
    const bool own = from && from->at.port == request.local_port && is_own(from->at.host, rules, request);
    if (!own && !(from && std::any_of(rules.allowed.begin(), rules.allowed.end(), known)))
      return "origin " + quoted_start(request.origins[0]) + " is not allowed (see --allow-origin)";
  }
  if (!is_loopback(host_form(request.local_address)) || request.hosts.empty()) return {};
  const auto to = parse_authority(request.hosts[0]);
  const auto named = [&](const origin& o) { return o.at.host == to->host; };
  if (to && (is_own(to->host, rules, request) || std::any_of(rules.allowed.begin(), rules.allowed.end(), named)))
    return {};
  return "host " + quoted_start(request.hosts[0]) + " is not this server's name (see --allow-origin)";
}

bool may_read(const access_rules& rules, const request_facts& request) {
  if (request.origins.size() != 1) return false;
  const auto from = parse_origin(request.origins[0]);
  return from && (rules.any ||
                  std::any_of(rules.allowed.begin(), rules.allowed.end(), [&](const origin& o) { return o == *from; }));
}

}  // namespace steno::app
