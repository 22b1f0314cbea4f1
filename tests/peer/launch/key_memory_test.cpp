#include <fcntl.h>
#include <unistd.h>

#include "peer/wire/socket/descriptor.h"
#include "tests/peer/launch/launch_fixture.h"

// Traces of a run's keys in the memory of its processes.

namespace gv {
namespace {

/// The beginning of every Ed25519 key in PEM (RFC 8410, section 7): base64 of what stands before
/// the key itself.
constexpr std::string_view key_text = "MC4CAQAwBQYDK2VwBCIEI";

/// Returns whether the process can write to a copy of the key's text. Needs permission to look.
bool holds_key_text(pid_t pid) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  const Descriptor memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(memory.open()) << pid;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::array<char, 5> rights{};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights.data()) != 3) continue;
    if (rights[1] != 'w') continue;
    std::string bytes(end - begin, '\0');
    const ssize_t count =
        ::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(begin));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (bytes.find(key_text) != std::string::npos) return true;
  }
  return false;
}

/// Peers keep OpenSSL's form of the key and none of its text, and core dumps are off.
TEST_F(Launch, NothingIsLeftOfAKeyOnceItIsRead) {
  Program launcher({"run", fleet(2, 0, "security: tls\n")});
  ASSERT_TRUE(trains()) << launcher.errors();
  for (const PeerId peer : {0U, 1U}) {
    std::ifstream limits(fmt::format("/proc/{}/limits", pid_of(peer)));
    std::string cores;
    while (std::getline(limits, cores) && !cores.starts_with("Max core file size")) {
    }
    std::istringstream words(cores.substr(std::min<std::size_t>(cores.size(), 18)));
    std::string soft, hard;
    words >> soft >> hard;
    EXPECT_EQ(soft + " " + hard, "0 0") << cores;
  }
  if (::geteuid() == 0) {
    EXPECT_TRUE(holds_key_text(launcher.pid())) << "who hands keys out has them: the search works";
    for (const PeerId peer : {0U, 1U}) EXPECT_FALSE(holds_key_text(pid_of(peer))) << peer;
  } else {
    const Descriptor closed(
        ::open(fmt::format("/proc/{}/mem", pid_of(0)).c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_FALSE(closed.open()) << "another process of this user reads a peer's memory";
  }
  launcher.kill(SIGTERM);
  EXPECT_EQ(launcher.wait().code, 143);
}

}  // namespace
}  // namespace gv
