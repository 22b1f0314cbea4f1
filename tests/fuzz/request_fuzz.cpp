// The head of an HTTP request to a run's page.
#include "optim/check.h"
#include "peer/show/live/http/http_server.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const gv::http::Parsed parsed = gv::http::parse_request(gv::fuzz::Input(data, size).text());
  if (parsed.status != 200) {
    GV_CHECK(!parsed.why.empty(), "a refusal says why");
    return 0;
  }
  GV_CHECK(parsed.request.path.starts_with('/'), "a path");
  gv::http::query_value(parsed.request.query, "token");
  if (const std::string* cookies = parsed.request.header("cookie"))
    gv::http::cookie_value(*cookies, "token");
  return 0;
}
