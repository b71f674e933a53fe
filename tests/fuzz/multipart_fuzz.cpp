// Forms of multipart/form-data: the first byte says in how large pieces they come. In pieces of any size the same parts
// are found, or the same reason why not; and no more than a boundary waits between two pieces of a part's bytes.
// SPDX-License-Identifier: Apache-2.0
#include "../../examples/transcriber/multipart.hpp"

#include <algorithm>
#include <cstdint>

#include "fuzz.hpp"

using namespace steno_fuzz;
using namespace steno::app;

namespace {

struct parts final : multipart_sink {
  void begin(const multipart_part& p) override {
    require(!open && !p.name.empty());
    open = true;
    all.append(p.file ? "file " : "").append(p.name).append("=");
  }
  void bytes(std::string_view piece) override {
    require(open && !piece.empty());
    all.append(piece);
  }
  void end() override {
    require(open);
    open = false;
    all.append(";");
  }
  std::string all;
  bool open = false;
};

std::string found(std::string_view body, std::size_t piece) {
  parts p;
  std::string why;
  read_or_refuse([&] {
    try {
      multipart_reader r("b", p);
      for (std::size_t at = 0; at < body.size(); at += piece) {
        r.push(body.substr(at, piece));
        require(r.waiting() <= multipart_limits().header_bytes + 8);
      }
      r.finish();
    } catch (const steno::error& e) {
      why = e.what();
      throw;
    }
  });
  return p.all + why;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body = text_of(data + 1, size - 1);
  (void)multipart_boundary(body);
  const std::string whole = found(body, std::max<std::size_t>(body.size(), 1));
  // A reason may be found before all of what comes before it was handed over; what is whole is the same.
  const std::string pieces = found(body, 1u + data[0]);
  if (whole.ends_with(';') || pieces.ends_with(';')) require(whole == pieces);
  return 0;
}
