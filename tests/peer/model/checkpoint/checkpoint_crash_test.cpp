#include <array>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/sim/trial.h"
#include "tests/scratch_folder.h"

// The newest loadable checkpoint is never older than the last acknowledged one: after a loss of
// power, on a full disk, after a kill.

namespace gv {
namespace {

constexpr std::size_t page = SimDisk::page_bytes;

std::vector<std::byte> crash_state(Round round) {
  std::vector<std::byte> values(2 * page + 100);
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<std::byte>(k * 7 + k / page + round);
  return values;
}

CheckpointStore store_on(Disk& disk, const std::string& folder, std::size_t keep = 2) {
  return {disk, folder, "fleet", "model", 3, keep};
}

/// Returns the fault of the checkpoints on disk, if any. `acknowledged` is the last saved round.
std::string judge(CheckpointStore& store, std::optional<Round> acknowledged) {
  std::vector<std::string> skipped;
  const auto newest = store.newest(skipped);
  if (!skipped.empty()) return "a bad file bears a final name: " + skipped.front();
  if (!newest) return acknowledged ? fmt::format("round {} is lost", *acknowledged) : "";
  if (acknowledged && newest->round < *acknowledged)
    return fmt::format("round {} was acknowledged, {} is found", *acknowledged, newest->round);
  return newest->state == crash_state(newest->round) ? "" : "another state than was saved";
}

/// Runs four lives on one disk. Each ends with a loss of power in the middle of an operation.
std::string four_lives(SimDisk& disk, std::uint64_t seed) {
  Rng rng(seed);
  CheckpointStore store = store_on(disk, "c", 1 + rng.below(3));
  std::optional<Round> acknowledged;
  Round round = 0;
  for (int life = 0; life < 4; ++life) {
    disk.lose_power_after(rng.below(60));
    if (rng.below(3) == 0) disk.fail_after(rng.below(60), rng.below(2) == 0);
    for (int saves = 0; saves < 8; ++saves) {
      ++round;
      if (store.save(round, crash_state(round)).empty()) acknowledged = round;
    }
    disk.crash(rng.bits());
    if (std::string wrong = judge(store, acknowledged); !wrong.empty()) return wrong;
  }
  ++round;
  return store.save(round, crash_state(round)).empty() ? judge(store, round) : "cannot go on";
}

TEST(CheckpointCrash, TwoThousandPowerLossesLoseNothingAcknowledged) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SimDisk disk;
    ASSERT_EQ(four_lives(disk, seed), "") << "seed " << seed;
  }
}

/// Acknowledges a sync without doing it.
class ForgetsContent : public SimDisk {
  Verdict sync(const std::string&) override { return ""; }
};
class ForgetsNames : public SimDisk {
  Verdict sync_folder(const std::string&) override { return ""; }
};

template <class LyingDisk>
int losses() {
  int count = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    LyingDisk disk;
    count += four_lives(disk, seed).empty() ? 0 : 1;
  }
  return count;
}

TEST(CheckpointCrash, ThePowerLossesFindAMissingSync) {
  EXPECT_GT(losses<ForgetsContent>(), 25);
  EXPECT_GT(losses<ForgetsNames>(), 25);
}

std::vector<std::string> list_files(Disk& disk, const std::string& folder) {
  std::vector<std::string> names;
  EXPECT_EQ(disk.list(folder, names), "");
  return names;
}

TEST(CheckpointFull, TheOldOneStaysAndNoHalfFileIsLeft) {
  const std::size_t pages = 3;  // pages of one checkpoint
  for (std::size_t room = 0; room < pages; ++room) {
    SimDisk disk;
    CheckpointStore store = store_on(disk, "c");
    ASSERT_EQ(store.save(1, crash_state(1)), "");
    ASSERT_EQ(disk.used_bytes(), pages * page);
    disk.set_capacity((pages + room) * page);
    EXPECT_EQ(store.save(2, crash_state(2)), "c/00000002.ckpt.tmp: No space left on device");
    EXPECT_EQ(list_files(disk, "c"), std::vector<std::string>{"00000001.ckpt"});
    EXPECT_EQ(judge(store, 1), "");
    disk.set_capacity(2 * pages * page);
    EXPECT_EQ(store.save(2, crash_state(2)), "");
    EXPECT_EQ(judge(store, 2), "");
  }
}

TEST(CheckpointFull, AnyOperationMayFail) {
  for (std::uint64_t n = 0; n < 12; ++n) {
    SimDisk disk;
    CheckpointStore store = store_on(disk, "c", 1);
    ASSERT_EQ(store.save(1, crash_state(1)), "");
    disk.fail_after(n, n % 2 == 0);
    const bool saved = store.save(2, crash_state(2)).empty();
    disk.fail_after(SimDisk::unlimited);
    EXPECT_EQ(judge(store, saved ? 2 : 1), "") << "operation " << n;
    for (const std::string& name : list_files(disk, "c")) EXPECT_TRUE(name.ends_with(".ckpt"));
    ASSERT_EQ(store.save(3, crash_state(3)), "");
    EXPECT_EQ(list_files(disk, "c"), std::vector<std::string>{"00000003.ckpt"});
  }
}

/// Saves two checkpoints on a tmpfs of `pages` pages, and returns the fault afterwards, if any.
std::string fill_tmpfs(const std::string& folder, std::size_t pages, int& saved) {
  const std::string size = fmt::format("size={}", pages * page);
  if (::mount("none", folder.c_str(), "tmpfs", 0, size.c_str()) != 0) return "skip: no mount";
  PosixDisk disk;
  CheckpointStore store = store_on(disk, folder);
  std::optional<Round> acknowledged;
  std::string wrong;
  for (const Round round : {1U, 2U}) {
    const Verdict verdict = store.save(round, crash_state(round));
    if (verdict.empty()) {
      acknowledged = round;
      ++saved;
    } else if (!verdict.ends_with(".ckpt.tmp: No space left on device")) {
      wrong = verdict;
    }
  }
  if (wrong.empty()) wrong = judge(store, acknowledged);
  for (const std::string& name : list_files(disk, folder))
    if (!name.ends_with(".ckpt")) wrong = name + " is left";
  ::umount(folder.c_str());
  return wrong;
}

/// Works in a mount namespace of its own, so that the machine's mounts stay unchanged.
std::string fill_every_tmpfs(const std::string& folder) {
  if (::unshare(CLONE_NEWNS) != 0) return "skip: no mount namespace";
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "skip: no mount";
  std::vector<int> saved(12);
  for (std::size_t pages = 1; pages < saved.size(); ++pages) {
    std::string wrong = fill_tmpfs(folder, pages, saved[pages]);
    if (!wrong.empty()) return fmt::format("{} ({} pages)", wrong, pages);
  }
  const bool every_outcome = saved[1] == 0 && saved[4] == 1 && saved.back() == 2;
  return every_outcome ? "" : "the sizes do not reach from too small to large enough";
}

/// Returns the result of `body`, which runs in another process.
std::string forked(const std::function<std::string()>& body) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string said = body();
    const bool told = ::write(pipe[1], said.data(), said.size()) >= 0;
    ::_exit(told ? 0 : 1);
  }
  ::close(pipe[1]);
  std::array<char, 500> said{};
  const ssize_t length = ::read(pipe[0], said.data(), said.size());
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? std::string(said.data(), static_cast<std::size_t>(length)) : "died";
}

TEST(CheckpointFull, OnARealDiskToo) {
  const ScratchFolder scratch;
  const std::string said = forked([&] { return fill_every_tmpfs(scratch.path()); });
  if (said.starts_with("skip")) GTEST_SKIP() << said << " (needs the right to mount a tmpfs)";
  EXPECT_EQ(said, "");
}

/// Saves checkpoints, and writes the round of each acknowledged one, until the process is killed.
[[noreturn]] void save_for_ever(const std::string& folder, int to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  PosixDisk disk;
  CheckpointStore store = store_on(disk, folder);
  std::vector<std::string> skipped;
  const auto newest = store.newest(skipped);
  for (Round round = newest ? newest->round + 1 : 1;; ++round) {
    if (!store.save(round, crash_state(round)).empty()) ::_exit(1);
    if (::write(to, &round, sizeof round) != sizeof round) ::_exit(2);
  }
}

/// Kills such a process some time after `saves` acknowledgements. Returns the last round.
std::optional<Round> kill_after(const std::string& folder, std::uint64_t saves, useconds_t wait) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) save_for_ever(folder, pipe[1]);
  ::close(pipe[1]);
  std::optional<Round> acknowledged;
  Round round = 0;
  const auto next = [&] { return ::read(pipe[0], &round, sizeof round) == sizeof round; };
  while (saves-- > 0 && next()) acknowledged = round;
  ::usleep(wait);
  ::kill(child, SIGKILL);
  while (next()) acknowledged = round;
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;
  return acknowledged;
}

void kill_often(const std::string& folder, int kills) {
  PosixDisk disk;
  CheckpointStore store = store_on(disk, folder);
  Rng rng(1);
  std::optional<Round> acknowledged;
  for (int k = 0; k < kills; ++k) {
    const auto last = kill_after(folder, rng.below(4), static_cast<useconds_t>(rng.below(5000)));
    if (last) acknowledged = last;
    ASSERT_EQ(judge(store, acknowledged), "") << "kill " << k;
  }
  EXPECT_TRUE(acknowledged);
}

TEST(CheckpointKill, TwoHundredKillsLoseNothingAcknowledged) {
  const ScratchFolder scratch;
  kill_often(scratch.path(), 200);
}

}  // namespace
}  // namespace gv
