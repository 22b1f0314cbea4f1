#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gv::http {

/// A reply to a client. A stream goes on behind the body until its source ends or the client goes.
struct Answer {
  /// Returns what is new since the last call; "": nothing; none: the stream ends. Called only when
  /// everything before has been sent, so that a slow reader misses what came meanwhile.
  using Source = std::function<std::optional<std::string>()>;

  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::string> headers{};  ///< "Name: value"
  Source stream{};
};

/// One sentence, with its status.
Answer refusal(int status, std::string_view why);

/// The status line, the headers and the body.
std::string text_of(const Answer& answer);

}  // namespace gv::http
