#include <string>

#include <gtest/gtest.h>

#include "peer/show/live/http/http_server.h"
#include "tests/peer/show/live/mutations.h"

namespace gv::http {
namespace {

TEST(HttpRequest, ReadsWhatABrowserSends) {
  const Parsed parsed = parse_request(
      "GET /events?json HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept:  text/html \r\n\r\n");
  ASSERT_EQ(parsed.status, 200) << parsed.why;
  EXPECT_EQ(parsed.request.method, "GET");
  EXPECT_EQ(parsed.request.path, "/events");
  EXPECT_EQ(parsed.request.query, "json");
  ASSERT_NE(parsed.request.header("accept"), nullptr);
  EXPECT_EQ(*parsed.request.header("accept"), "text/html");
  EXPECT_EQ(parsed.request.header("cookie"), nullptr);
}

struct Refused {
  const char* name;
  std::string head;
  int status;
};

class HttpRefusal : public testing::TestWithParam<Refused> {};

TEST_P(HttpRefusal, HasItsStatus) {
  const Parsed parsed = parse_request(GetParam().head);
  EXPECT_EQ(parsed.status, GetParam().status);
  EXPECT_FALSE(parsed.why.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    HttpRefusal,
    testing::Values(Refused{"Empty", "", 400},
                    Refused{"NoTarget", "GET\r\n\r\n", 400},
                    Refused{"NoHost", "GET / HTTP/1.1\r\n\r\n", 400},
                    Refused{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400},
                    Refused{"BareLineFeeds", "GET / HTTP/1.1\nHost: a\n\n", 400},
                    Refused{"Folded", "GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n", 400},
                    Refused{"SpaceBeforeColon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
                    Refused{"NameOfNothing", "GET / HTTP/1.1\r\n: a\r\nHost: a\r\n\r\n", 400},
                    Refused{"Control", std::string("GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n"), 400},
                    Refused{"Zero", std::string("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 28), 400},
                    Refused{"AbsoluteTarget", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                    Refused{"Unfinished", "GET / HTTP/1.1\r\nHost: a\r\n", 400},
                    Refused{"Body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", 413},
                    Refused{"Chunks",
                            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
                    Refused{"Http2", "PRI * HTTP/2.0\r\n\r\n", 400},
                    Refused{"Version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
                    Refused{"NoVersion", "GET /\r\nHost: a\r\n\r\n", 400}),
    [](const auto& each) { return each.param.name; });

TEST(HttpRequest, TooManyHeadersAreRefused) {
  std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int k = 0; k < 64; ++k) head += "X: y\r\n";
  EXPECT_EQ(parse_request(head + "\r\n").status, 400);
}

/// A request with a change anywhere is refused, or all that was read is in its text.
TEST(HttpRequest, MutationsAreReadOrRefused) {
  Mutations mutations(7);
  int read = 0;
  for (int k = 0; k < 200'000; ++k) {
    const std::string head = mutations.next();
    const Parsed parsed = parse_request(head);
    if (parsed.status != 200) {
      EXPECT_FALSE(parsed.why.empty());
      continue;
    }
    ++read;
    ASSERT_NE(head.find(parsed.request.path), std::string::npos);
    for (const auto& [name, value] : parsed.request.headers)
      ASSERT_NE(head.find(value), std::string::npos);
  }
  EXPECT_GT(read, 1000) << "the mutations are too wild to reach anything";
}

TEST(HttpRequest, QueriesAndCookiesHaveValues) {
  EXPECT_EQ(query_value("a=1&token=xy&b", "token"), "xy");
  EXPECT_EQ(query_value("a=1&b", "b"), "");
  EXPECT_EQ(query_value("a=1&token", "a"), "1");
  EXPECT_FALSE(query_value("atoken=1", "token"));
  EXPECT_FALSE(query_value("", "token"));
  EXPECT_EQ(cookie_value("x=1; grapevine_80=ab", "grapevine_80"), "ab");
  EXPECT_EQ(cookie_value("grapevine_80=ab;y=2", "grapevine_80"), "ab");
  EXPECT_FALSE(cookie_value("grapevine_8080=ab", "grapevine_80"));
  EXPECT_FALSE(cookie_value(";;;", "grapevine_80"));
}

}  // namespace
}  // namespace gv::http
