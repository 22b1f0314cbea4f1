#include <algorithm>

#include "peer/show/live/http/http_server.h"

namespace gv::http {
namespace {

constexpr std::size_t most_headers = 64;

bool is_token(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool digit = c >= '0' && c <= '9';
  return letter || digit || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_visible(char c) {
  return c > 0x20 && c < 0x7f;
}

/// Visible ASCII, spaces and tabs; bytes beyond ASCII (obs-text) are refused.
bool is_field(char c) {
  return is_visible(c) || c == ' ' || c == '\t';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Removes the first line from `rest` and returns it without its CR LF; none if there is no CR LF.
std::optional<std::string_view> next_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return line;
}

Parsed refuse(int status, std::string_view why) {
  return {.status = status, .why = why, .request = {}};
}

/// Parses `GET /path?query HTTP/1.1`. The status is 200, or that of the refusal.
Parsed parse_first_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first)
    return refuse(400, "the first line is not METHOD TARGET VERSION");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (method.empty() || !std::ranges::all_of(method, is_token))
    return refuse(400, "the method is not a word");
  if (!target.starts_with('/') || !std::ranges::all_of(target, is_visible))
    return refuse(400, "the target does not begin with / or is not visible ASCII");
  if (version.size() != 8 || !version.starts_with("HTTP/"))
    return refuse(400, "the version is not HTTP/1.1");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return refuse(505, "the version is not HTTP/1.1");
  const std::size_t mark = target.find('?');
  Parsed parsed;
  parsed.request.method = method;
  parsed.request.path = target.substr(0, mark);
  if (mark != std::string_view::npos) parsed.request.query = target.substr(mark + 1);
  return parsed;
}

/// Adds the header to the request. Returns an empty string, or the error.
std::string_view take_header(std::string_view line, Request& request) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return "a header without a name";
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!std::ranges::all_of(name, is_token)) return "a header's name is not a word";
  if (!std::ranges::all_of(value, is_field)) return "a header's value is not visible ASCII";
  if (request.headers.size() >= most_headers) return "more than 64 headers";
  request.headers.emplace_back(lower(name), value);
  return "";
}

Parsed check_headers(Parsed parsed) {
  const Request& request = parsed.request;
  const auto hosts = std::ranges::count(request.headers, std::string_view("host"),
                                        [](const auto& h) -> std::string_view { return h.first; });
  if (hosts != 1) return refuse(400, "there must be exactly one Host");
  if (request.header("transfer-encoding") != nullptr)
    return refuse(501, "requests with a body are not taken");
  const std::string* const length = request.header("content-length");
  if (length != nullptr && *length != "0") return refuse(413, "requests with a body are not taken");
  return parsed;
}

}  // namespace

const std::string* Request::header(std::string_view name) const {
  const auto found = std::ranges::find(
      headers, name, [](const auto& header) -> std::string_view { return header.first; });
  return found == headers.end() ? nullptr : &found->second;
}

Parsed parse_request(std::string_view head) {
  std::string_view rest = head;
  const auto first = next_line(rest);
  if (!first) return refuse(400, "lines end with CR LF");
  Parsed parsed = parse_first_line(*first);
  if (parsed.status != 200) return parsed;
  for (auto line = next_line(rest); line; line = next_line(rest)) {
    if (line->empty()) return check_headers(std::move(parsed));
    const std::string_view wrong = take_header(*line, parsed.request);
    if (!wrong.empty()) return refuse(400, wrong);
  }
  return refuse(400, "the head does not end with an empty line");
}

std::optional<std::string_view> query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) == key) return pair.substr(std::min(equals + 1, pair.size()));
  }
  return std::nullopt;
}

std::optional<std::string_view> cookie_value(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const std::string_view pair = trimmed(cookies.substr(0, cookies.find(';')));
    cookies.remove_prefix(std::min(cookies.size(), cookies.find(';')));
    if (!cookies.empty()) cookies.remove_prefix(1);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name)
      return pair.substr(equals + 1);
  }
  return std::nullopt;
}

}  // namespace gv::http
