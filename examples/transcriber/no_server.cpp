// Of a build without the server: Boost's sockets, uploads and logs of POSIX systems.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include "verbs.hpp"

namespace steno::app {

int run_serve(const options&) {
  fail({.what = "this build has no server", .hint = "it was configured with STENO_SERVER=OFF"});
}

}  // namespace steno::app
