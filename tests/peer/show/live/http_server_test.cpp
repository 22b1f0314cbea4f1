#include "peer/show/live/http/http_server.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/show/live/live_address.h"
#include "tests/peer/show/live/client.h"
#include "tests/peer/show/live/mutations.h"

namespace gv::http {
namespace {

/// A server on a free port of this machine.
class Served {
 public:
  explicit Served(Server::Handler handler, const std::string& token = "") {
    server_.emplace(listen_at(address_, token), std::move(handler));
  }
  std::uint16_t port() const { return address_.port; }
  std::string get(const std::string& path) const { return gv::get(port(), path, address_.text()); }
  std::string host() const { return "Host: " + address_.text() + "\r\n"; }
  void end() { server_.reset(); }

 private:
  LiveAddress address_;
  std::optional<Server> server_;
};

Answer path_of(const Request& request, const Access&) {
  return {.body = request.path};
}

TEST(HttpServer, AnswersAndCloses) {
  const Served server(path_of);
  const std::string reply = server.get("/state.json");
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 200 OK\r\n")) << reply;
  EXPECT_TRUE(reply.ends_with("\r\n\r\n/state.json")) << reply;
  EXPECT_NE(reply.find("Connection: close\r\n"), std::string::npos);
  EXPECT_NE(reply.find("Content-Length: 11\r\n"), std::string::npos);
}

TEST(HttpServer, OtherHostsWrongTokensAndOtherMethodsAreRefused) {
  const Served server(path_of, "0123456789abcdef0123456789abcdef");
  EXPECT_TRUE(get(server.port(), "/", "evil.example").starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(server.get("/").starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(server.get("/?token=0123").starts_with("HTTP/1.1 403 "));
  const std::string in = server.get("/?token=0123456789abcdef0123456789abcdef");
  EXPECT_TRUE(in.starts_with("HTTP/1.1 200 ")) << in;
  EXPECT_NE(in.find("\r\nSet-Cookie: grapevine_"), std::string::npos);
  const Served open(path_of);
  const Client client(open.port());
  client.send("POST /stop HTTP/1.1\r\n" + open.host() + "\r\n");
  const std::string refused = client.all();
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 405 ")) << refused;
  EXPECT_NE(refused.find("\r\nAllow: GET\r\n"), std::string::npos);
}

TEST(HttpServer, AHeadMayComeByteByByte) {
  const Served server(path_of);
  const Client client(server.port());
  for (const char c : "GET /slow HTTP/1.1\r\n" + server.host() + "\r\n")
    client.send(std::string(1, c));
  EXPECT_TRUE(client.all().ends_with("/slow"));
}

TEST(HttpServer, AHeadOfOver8KiBIsRefusedAndTheAnswerArrives) {
  const Served server(path_of);
  for (const std::size_t size : {8193U, 60'000U}) {
    const Client client(server.port());
    client.send("GET / HTTP/1.1\r\n" + server.host() + "X: " + std::string(size, 'x'));
    EXPECT_TRUE(client.all().starts_with("HTTP/1.1 431 ")) << size;
  }
}

TEST(HttpServer, WhoSaysNothingKeepsOnlyItsConnection) {
  const Served server(path_of);
  std::vector<std::unique_ptr<Client>> silent;
  for (int k = 0; k < most_connections - 1; ++k)
    silent.push_back(std::make_unique<Client>(server.port()));
  EXPECT_TRUE(server.get("/").starts_with("HTTP/1.1 200 "));
}

TEST(HttpServer, BeyondThe32ndConnectionOneHearsSo) {
  const Served server(path_of);
  std::vector<std::unique_ptr<Client>> silent;
  for (int k = 0; k < most_connections; ++k)
    silent.push_back(std::make_unique<Client>(server.port()));
  const Client one_more(server.port());
  EXPECT_TRUE(one_more.all().starts_with("HTTP/1.1 503 "));
}

/// The stream makes a megabyte at each call. It is not called for data that a slow reader misses.
TEST(HttpServer, ASlowReaderMissesLinesAndHoldsNobody) {
  std::atomic<int> calls = 0;
  const auto handler = [&](const Request& request, const Access& access) {
    if (request.path != "/events") return path_of(request, access);
    Answer answer{.type = "text/event-stream"};
    answer.stream = [&]() -> std::optional<std::string> {
      ++calls;
      return std::string(1 << 20, 'x');
    };
    return answer;
  };
  const Served server(handler);
  const Client stalled(server.port());
  stalled.send("GET /events HTTP/1.1\r\n" + server.host() + "\r\n");
  ASSERT_FALSE(stalled.some().empty());
  for (int k = 0; k < 200; ++k) ASSERT_TRUE(server.get("/x").ends_with("/x"));
  // A socket takes some megabytes (tcp_wmem, tcp_rmem). No more data is made.
  EXPECT_LE(calls, 16);
}

TEST(HttpServer, AStreamEndsWithItsSourceOrWithTheServer) {
  const auto handler = [](const Request& request, const Access&) {
    Answer answer{.type = "text/event-stream", .body = "begin\n"};
    const bool endless = request.path == "/endless";
    answer.stream = [endless, left = 2]() mutable -> std::optional<std::string> {
      if (endless) return "";
      if (left-- == 0) return std::nullopt;
      return "line\n";
    };
    return answer;
  };
  Served server(handler);
  EXPECT_TRUE(server.get("/").ends_with("begin\nline\nline\n"));
  const Client client(server.port());
  client.send("GET /endless HTTP/1.1\r\n" + server.host() + "\r\n");
  EXPECT_TRUE(client.some().ends_with("begin\n"));
  server.end();
  EXPECT_EQ(client.all(), "");
}

/// Half of the requests are cut short. Afterwards the server answers as before.
TEST(HttpServer, SurvivesThousandsOfDamagedRequests) {
  const Served server(path_of, "0123456789abcdef0123456789abcdef");
  Mutations mutations(11);
  const char* const wished = std::getenv("GRAPEVINE_HTTP_MUTATIONS");
  const int count = wished != nullptr ? std::atoi(wished) : 10'000;
  int answered = 0;
  for (int k = 0; k < count; ++k) {
    const Client client(server.port());
    ASSERT_TRUE(client.connected());
    std::string request = mutations.next();
    client.send(request);
    client.finish();
    const std::string reply = client.all();
    if (reply.empty()) continue;  // the request had no empty line
    ++answered;
    ASSERT_TRUE(reply.starts_with("HTTP/1.1 4") || reply.starts_with("HTTP/1.1 5"))
        << "nobody has the token\n"
        << request << "\n"
        << reply;
  }
  EXPECT_GT(answered, count / 2);
  EXPECT_TRUE(server.get("/?token=0123456789abcdef0123456789abcdef").starts_with("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace gv::http
