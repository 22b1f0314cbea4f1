#include "peer/show/live/http_answer.h"

#include <fmt/format.h>

namespace gv::http {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

}  // namespace

Answer refusal(int status, std::string_view why) {
  Answer answer{.status = status, .body = fmt::format("{}\n", why)};
  if (status == 405) answer.headers.emplace_back("Allow: GET");
  return answer;
}

std::string text_of(const Answer& answer) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nConnection: close\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n",
      answer.status,
      reason_of(answer.status),
      answer.type);
  // A stream's end is the end of the connection (RFC 9112, section 6.3).
  if (!answer.stream) text += fmt::format("Content-Length: {}\r\n", answer.body.size());
  for (const std::string& header : answer.headers) text += header + "\r\n";
  return text + "\r\n" + answer.body;
}

}  // namespace gv::http
