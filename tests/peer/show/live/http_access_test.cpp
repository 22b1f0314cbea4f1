#include <set>

#include <gtest/gtest.h>

#include "peer/show/live/http/http_server.h"

namespace gv::http {
namespace {

const std::string token = "0123456789abcdef0123456789abcdef";

Access page_access() {
  return {
      .hosts = {"127.0.0.1:8080", "localhost:8080"}, .token = token, .cookie = "grapevine_8080"};
}

Request request(const std::string& host,
                const std::string& query = "",
                const std::string& name = "x",
                const std::string& value = "y") {
  return {.method = "GET", .path = "/", .query = query, .headers = {{"host", host}, {name, value}}};
}

TEST(HttpAccess, TheTokenComesInTheAddressACookieOrAHeader) {
  const Access access = page_access();
  const Admission first = admit(access, request("127.0.0.1:8080", "token=" + token));
  EXPECT_EQ(first.status, 200);
  EXPECT_TRUE(first.keep_cookie);
  const Admission later =
      admit(access, request("LOCALHOST:8080", "", "cookie", "a=b; grapevine_8080=" + token));
  EXPECT_EQ(later.status, 200);
  EXPECT_FALSE(later.keep_cookie);
  EXPECT_EQ(admit(access, request("localhost:8080", "", "authorization", "Bearer " + token)).status,
            200);
}

TEST(HttpAccess, WithoutItNobodyComesIn) {
  const Access access = page_access();
  const std::string host = "127.0.0.1:8080";
  std::string wrong = token;
  wrong.back() = '0';
  for (const Request& r : {request(host), request(host, "token="), request(host, "token=" + wrong),
                           request(host, "token=" + token + "0"),
                           request(host, "", "cookie", "grapevine_8081=" + token),
                           request(host, "", "cookie", "grapevine_8080=" + wrong),
                           request(host, "", "authorization", "Basic " + token),
                           request(host, "", "authorization", "Bearer " + wrong)})
    EXPECT_EQ(admit(access, r).status, 403);
}

TEST(HttpAccess, AnotherHostIsRefusedWhateverItBrings) {
  const Access access = page_access();
  for (const char* host : {"evil.example:8080", "127.0.0.1", "127.0.0.1:8081",
                           "127.0.0.1:8080.evil.example", "127.0.0.1:8080 ", ""})
    EXPECT_EQ(admit(access, request(host, "token=" + token)).status, 403) << host;
  Access open = access;
  open.token.clear();
  EXPECT_EQ(admit(open, request("evil.example:8080")).status, 403);
  EXPECT_EQ(admit(open, request("127.0.0.1:8080")).status, 200);
}

TEST(HttpAccess, WhoHasTheSocketIsNotAsked) {
  EXPECT_EQ(admit({.control = true}, request("live")).status, 200);
}

TEST(HttpAccess, CookiesStayWithThisPage) {
  const std::string header = cookie_header(page_access());
  EXPECT_EQ(header, "Set-Cookie: grapevine_8080=" + token + "; Path=/; SameSite=Strict; HttpOnly");
}

TEST(HttpAccess, TokensHave128BitsAndDiffer) {
  std::set<std::string> tokens;
  for (int k = 0; k < 100; ++k) tokens.insert(new_token());
  EXPECT_EQ(tokens.size(), 100U);
  for (const std::string& t : tokens) {
    EXPECT_EQ(t.size(), 32U);
    EXPECT_EQ(t.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
}

}  // namespace
}  // namespace gv::http
