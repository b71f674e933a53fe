// SPDX-License-Identifier: Apache-2.0
#include "byte_stream.hpp"

#include <steno/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if !defined(_WIN32)
#include <poll.h>
#endif

#include <cerrno>
#include <cstring>
#include <utility>

#include "signals.hpp"
#include "system.hpp"

namespace steno::app {
namespace {

#if defined(_WIN32)
using bytes_of_read = unsigned;
#else
using bytes_of_read = std::size_t;
#endif

}  // namespace

byte_stream::byte_stream(int fd, std::string name) : byte_source(std::move(name)), fd_(fd) {
  struct stat facts {};
  const bool known = ::fstat(fd_, &facts) == 0;
  waits_ = known && !S_ISREG(facts.st_mode);
  whole_file_ = known && S_ISREG(facts.st_mode) && ::lseek(fd_, 0, SEEK_CUR) == 0;
}

byte_stream byte_stream::open(const std::string& path) {
#if defined(_WIN32)
  const int fd = system::open_to_read(path);
#else
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
#endif
  if (fd < 0) fail({.where = path, .what = std::strerror(errno)});
  byte_stream s(fd, path);
  s.owned_ = true;
  return s;
}

byte_stream::byte_stream(byte_stream&& other) noexcept
    : byte_source(std::move(other)),
      fd_(other.fd_),
      owned_(std::exchange(other.owned_, false)),
      waits_(other.waits_),
      whole_file_(other.whole_file_) {}

byte_stream::~byte_stream() {
  if (owned_) ::close(fd_);
}

// 0 at the end. An interruption cannot fall between a question and a wait: poll() sees both. Windows cannot wait for
// both: there an interruption is seen when the next bytes come, or the end.
std::size_t byte_stream::read(std::uint8_t* to, std::size_t most) {
  for (;;) {
    if (input_is_over()) return 0;
#if !defined(_WIN32)
    if (waits_) {
      pollfd both[] = {{fd_, POLLIN, 0}, {input_over_event(), POLLIN, 0}};
      if (::poll(both, 2, -1) < 0 && errno != EINTR)
        fail({.where = name(), .what = std::string("cannot wait for it: ") + std::strerror(errno)});
      if ((both[1].revents & POLLIN) != 0) return 0;
      if (both[0].revents == 0) continue;
    }
#endif
    const auto n = ::read(fd_, to, static_cast<bytes_of_read>(most));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno == EBADF) fail({.where = name(), .what = "is closed"});
    if (errno != EINTR && errno != EAGAIN)
      fail({.where = name(), .what = std::string("cannot read: ") + std::strerror(errno)});
  }
}

}  // namespace steno::app
