// Who may use the server: what a browser says about the page that asks is checked against the server's own name.
//
// Every web page may open a WebSocket to a server on its reader's machine; the browser sends the page's origin with it.
// A page may also give its own name the address 127.0.0.1 after it was loaded (DNS rebinding): then the request's Host
// is that name. Tested in tests/transcriber/access_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

/// A host, in the form that is compared, and a port.
struct authority {
  std::string host;              ///< lower case; addresses in their shortest form, without brackets
  std::optional<int> port = {};  ///< nothing: none was given
  bool operator==(const authority&) const = default;
};
/// "Name:80", "[::1]:80", "name"; nothing when it is not of this form.
std::optional<authority> parse_authority(std::string_view text);

struct origin {
  std::string scheme;  ///< lower case
  authority at;        ///< with the scheme's own port where none was given
  bool operator==(const origin&) const = default;
};
/// "https://name:8443"; nothing when it is not of this form ("null" is not).
std::optional<origin> parse_origin(std::string_view text);

bool is_loopback(std::string_view host);

/// What is allowed beside the server's own name.
struct access_rules {
  std::string host;             ///< the address or name that the server was told to listen on
  std::vector<origin> allowed;  ///< their names are also taken as Host
  bool any = false;             ///< nothing is checked
};
/// Adds what --allow-origin says: an origin or "*"; false when it is neither.
bool allow_origin(access_rules& rules, std::string_view text);

/// Of a request, and of the connection that it came by.
struct request_facts {
  std::vector<std::string> origins, hosts;  ///< the values of these fields
  std::string local_address;                ///< the server's end
  int local_port = 0;
};
/// Why the request is refused; empty: it is not. Requests without Origin do not come from a web page.
std::string refusal(const access_rules& rules, const request_facts& request);
/// Whether a page of another origin sent the request that may also read the answer: one of those that are allowed.
bool may_read(const access_rules& rules, const request_facts& request);

}  // namespace steno::app
