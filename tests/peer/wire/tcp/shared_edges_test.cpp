#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include <asio/connect.hpp>
#include <asio/write.hpp>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/wire/lend/region.h"
#include "peer/wire/tcp/tcp_world_impl.h"

namespace gv {
namespace {

constexpr RegionShape shape{16, 1, 1 << 20};

/// A process: its shared memory and its loop.
struct SharingProcess {
  SharingProcess(PeerId self, std::uint64_t incarnation, PeerId neighbor)
      : edges(SharedEdges::make(
            io,
            shape,
            {.self = self, .incarnation = incarnation, .neighbors = {neighbor}, .region = {}})),
        pool(edges->sharing().memory()) {}

  Hello hello() const {
    Hello hello;
    hello.peer = edges->sharing().self();
    hello.incarnation = edges->sharing().incarnation();
    hello.door = edges->door();
    return hello;
  }

  asio::io_context io;
  std::unique_ptr<SharedEdges> edges;  ///< destroyed before the loop, which its coroutines use
  BufferPool pool;
};

void meet(SharingProcess& a, SharingProcess& b) {
  a.edges->met(b.edges->sharing().self(), b.hello());
  b.edges->met(a.edges->sharing().self(), a.hello());
}

/// Runs both until `done` holds. Returns false if it does not hold within 30 s.
bool until(SharingProcess& a, SharingProcess& b, const std::function<bool()>& done) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done() && std::chrono::steady_clock::now() < last) {
    a.io.run_for(std::chrono::milliseconds(1));
    b.io.run_for(std::chrono::milliseconds(1));
  }
  return done();
}

/// Runs both long enough for any effect.
void run_a_while(SharingProcess& a, SharingProcess& b) {
  for (int k = 0; k < 50; ++k) {
    a.io.run_for(std::chrono::milliseconds(1));
    b.io.run_for(std::chrono::milliseconds(1));
  }
}

bool open(const SharingProcess& process, PeerId neighbor) {
  return process.edges->sharing().is_open(neighbor);
}

/// Connects as a stranger of the machine that found the socket's name.
void visit(SharingProcess& process, const std::string& words) {
  using Local = asio::local::stream_protocol;
  Local::socket socket(process.io);
  const std::string name = std::string(1, '\0') + "grapevine-" + process.edges->door();
  socket.connect(Local::endpoint(name));
  asio::write(socket, asio::buffer(words));
}

/// Connects from another process of this machine, as `user`, to peer 1's socket, and claims to be
/// its neighbour 0 with all correct data. Returns 3 if it got memory, 0 if not, and another number
/// if it could not connect.
int fate_of_visitor(SharingProcess& one, uid_t user) {
  const std::string name = std::string(1, '\0') + "grapevine-" + one.edges->door();
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setuid(user) != 0) ::_exit(1);
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    const std::shared_ptr<MemoryFile> file = MemoryFile::make(shape);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 || !file)
      ::_exit(1);
    const Offer offer{.incarnation = 10,
                      .bytes = shape.bytes,
                      .blocks = shape.blocks,
                      .rows = shape.rows,
                      .peer = 0,
                      .row = 0};
    send_offer(socket.get(), offer, file->descriptor());
    pollfd answer{socket.get(), POLLIN, 0};
    constexpr int patience_ms = 60'000;
    ::poll(&answer, 1, patience_ms);
    ::_exit(receive_offer(socket.get()) ? 3 : 0);
  }
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) one.io.run_for(std::chrono::milliseconds(1));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SharedEdges, GiveNoMemoryToAnotherUserOfTheMachine) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  constexpr uid_t nobody = 65534;
  for (const uid_t user : {uid_t{0}, nobody}) {
    SharingProcess zero(0, 10, 1);
    SharingProcess one(1, 11, 0);
    one.edges->met(0, zero.hello());
    EXPECT_EQ(fate_of_visitor(one, user), user == nobody ? 0 : 3) << user;
    EXPECT_FALSE(open(one, 0));
  }
}

TEST(SharedEdges, TwoThatMeetOpenTheirEdgeAndLend) {
  SharingProcess a(0, 10, 1);
  SharingProcess b(1, 11, 0);
  meet(a, b);
  ASSERT_TRUE(until(a, b, [&] { return open(a, 1) && open(b, 0); }));
  const std::shared_ptr<Buffer> sent = a.pool.acquire(4096);
  std::fill_n(sent->data(), 4096, std::byte{42});
  const auto loan = a.edges->sharing().lend(1, *sent);
  ASSERT_TRUE(loan);
  Payload read;
  ASSERT_EQ(b.edges->sharing().borrow(0, 10, *loan, 4096, read), "");
  EXPECT_NE(read->data(), sent->data()) << "another mapping";
  EXPECT_TRUE(std::equal(sent->data(), sent->data() + 4096, read->data()));
}

TEST(SharedEdges, TheEndOfAProcessShutsItsEdges) {
  auto a = std::make_unique<SharingProcess>(0, 10, 1);
  SharingProcess b(1, 11, 0);
  meet(*a, b);
  ASSERT_TRUE(until(*a, b, [&] { return open(*a, 1) && open(b, 0); }));
  a.reset();
  EXPECT_TRUE(until(b, b, [&] { return !open(b, 0); }));
}

TEST(SharedEdges, ASuccessorOpensTheEdgeAgain) {
  auto a = std::make_unique<SharingProcess>(0, 10, 1);
  SharingProcess b(1, 11, 0);
  meet(*a, b);
  ASSERT_TRUE(until(*a, b, [&] { return open(*a, 1) && open(b, 0); }));
  a = std::make_unique<SharingProcess>(0, 12, 1);
  meet(*a, b);
  EXPECT_TRUE(until(*a, b, [&] { return open(*a, 1) && open(b, 0); }));
}

/// Counts locked regions, immediately.
struct CountedLocks : PageLock {
  bool lock(std::span<const std::byte>, bool only_read) override {
    if (refuses) return false;
    ++(only_read ? theirs : ours);
    return true;
  }
  void unlock(const std::byte*) noexcept override { ++unlocked; }

  bool refuses = false;
  int ours = 0, theirs = 0, unlocked = 0;
};

void do_at_once(const std::function<void()>& job) {
  job();
}

TEST(SharedEdges, ARegionIsLockedForADeviceUntilItsProcessEndsAndNothingIsHeld) {
  auto a = std::make_unique<SharingProcess>(0, 10, 1);
  SharingProcess b(1, 11, 0);
  const auto locks = std::make_shared<CountedLocks>();
  ASSERT_TRUE(b.edges->lock_for(locks, do_at_once));
  EXPECT_EQ(locks->ours, 1);
  meet(*a, b);
  ASSERT_TRUE(until(*a, b, [&] { return open(*a, 1) && open(b, 0); }));
  EXPECT_EQ(locks->theirs, 1);
  const std::shared_ptr<Buffer> sent = a->pool.acquire(4096);
  const auto loan = a->edges->sharing().lend(1, *sent);
  Payload held;
  ASSERT_EQ(b.edges->sharing().borrow(0, 10, *loan, 4096, held), "");
  a.reset();
  ASSERT_TRUE(until(b, b, [&] { return !open(b, 0); }));
  b.edges->look_after();
  EXPECT_EQ(locks->unlocked, 0) << "a payload is held";
  held.reset();
  b.edges->look_after();
  EXPECT_EQ(locks->unlocked, 1);
  b.edges.reset();
  EXPECT_EQ(locks->unlocked, 2) << "our own";
}

TEST(SharedEdges, WhereADeviceRefusesOurRegionNothingIsLocked) {
  SharingProcess a(0, 10, 1);
  SharingProcess b(1, 11, 0);
  const auto locks = std::make_shared<CountedLocks>();
  locks->refuses = true;
  EXPECT_FALSE(b.edges->lock_for(locks, do_at_once));
  locks->refuses = false;
  meet(a, b);
  ASSERT_TRUE(until(a, b, [&] { return open(a, 1) && open(b, 0); }));
  EXPECT_EQ(locks->theirs, 0);
}

TEST(SharedEdges, WhoTellsNoneOfItsDoorsIsNotVisited) {
  for (const char* door : {"", "../../elsewhere", "0123456789abcdef0123456789abcdeg"}) {
    SCOPED_TRACE(door);
    SharingProcess a(0, 10, 1);
    SharingProcess b(1, 11, 0);
    Hello lies = b.hello();
    lies.door = door;
    a.edges->met(1, lies);
    b.edges->met(0, a.hello());
    run_a_while(a, b);
    EXPECT_FALSE(open(a, 1) || open(b, 0));
  }
}

/// The process at the socket is not the one that the link met.
TEST(SharedEdges, AnotherProcessBehindTheDoorIsNotBelieved) {
  SharingProcess a(0, 10, 1);
  SharingProcess b(1, 11, 0);
  Hello other = b.hello();
  other.incarnation = 99;
  a.edges->met(1, other);
  b.edges->met(0, a.hello());
  run_a_while(a, b);
  EXPECT_FALSE(open(a, 1) || open(b, 0));
}

TEST(SharedEdges, VisitorsWithoutAnOfferChangeNothing) {
  SharingProcess a(0, 10, 1);
  SharingProcess b(1, 11, 0);
  for (int k = 0; k < 100; ++k) {
    visit(a, std::string(static_cast<std::size_t>(k), 'x'));
    a.io.run_for(std::chrono::milliseconds(1));
  }
  meet(a, b);
  EXPECT_TRUE(until(a, b, [&] { return open(a, 1) && open(b, 0); }));
}

}  // namespace
}  // namespace gv
