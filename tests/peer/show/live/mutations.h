#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "optim/rng.h"

namespace gv {

/// Damaged requests, fixed by the seed: bytes are flipped, removed, doubled or inserted, or the
/// whole request is repeated.
class Mutations {
 public:
  explicit Mutations(std::uint64_t seed) : rng_(seed) {}

  std::string next() {
    static const std::array<std::string, 6> whole{
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nCookie: grapevine_8080=abc; x=y\r\n\r\n",
        "GET /events?json HTTP/1.1\r\nHost: localhost:8080\r\nAuthorization: Bearer 00\r\n\r\n",
        "GET /state.json HTTP/1.0\r\nhost: [::1]:8080\r\nAccept: */*\r\n\r\n",
        "POST /stop HTTP/1.1\r\nHost: live\r\nContent-Length: 0\r\n\r\n",
        "GET /metrics?token=0123 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"};
    std::string text = whole.at(rng_.below(whole.size()));
    for (std::uint64_t left = rng_.below(4); left > 0; --left) change(text);
    return text;
  }

 private:
  void change(std::string& text) {
    if (text.empty()) return;
    const std::size_t at = rng_.below(text.size());
    const std::size_t length = 1 + rng_.below(8);
    switch (rng_.below(6)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << rng_.below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, 1, static_cast<char>(rng_.below(256)));
        break;
      case 4:
        text.insert(at, std::string(length * length * length, static_cast<char>(rng_.below(256))));
        break;
      default:
        text += text;
    }
  }

  Rng rng_;
};

}  // namespace gv
