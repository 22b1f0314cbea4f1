#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "peer/show/live/live_client.h"
#include "tests/peer/launch/launch_fixture.h"
#include "tests/text_of.h"

// Parents, terminals and pipes that do not behave: with any inherited state and any reader that
// does not read, a run ends in order with everything saved.

namespace gv {
namespace {

namespace fs = std::filesystem;

/// The program as a child. The test arranges its surroundings between fork and exec.
class Placed {
 public:
  Placed(std::vector<std::string> arguments, const std::function<void()>& arrange) {
    arguments.insert(arguments.begin(), grapevine_program());
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    arrange();
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  ~Placed() {
    if (code_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  void kill(int signal) const { ::kill(pid_, signal); }
  bool ended() {
    int status = 0;
    if (!code_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    return code_.has_value();
  }
  /// Returns the exit code, 1000 + signal, or -1 if the program hangs.
  int wait() {
    return comes_true([this] { return ended(); }) ? *code_ : -1;
  }

 private:
  pid_t pid_ = -1;
  std::optional<int> code_;
};

void print_to(const std::string& path, std::initializer_list<int> fds) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  for (const int fd : fds) ::dup2(file, fd);
}

class Surroundings : public Launch {
 protected:
  std::string words() const { return path("words"); }
  void quiet() const { print_to(words(), {STDOUT_FILENO, STDERR_FILENO}); }
  std::string said() const { return fs::exists(words()) ? text_of(words()) : ""; }
  bool saved() const { return fs::exists(path("run/model.safetensors")); }
  /// Continues the run for some rounds, and returns its last summary.
  nlohmann::json goes_on_from(Round stopped) const {
    const Ended on = run({"run", "--resume", path("run"), "--set",
                          fmt::format("stop.rounds={}", stopped + 50), "--json"});
    EXPECT_EQ(on.code, 0) << on.err;
    EXPECT_NE(on.err.find(fmt::format("checkpoint of round {}\n", stopped)), std::string::npos)
        << stopped << " " << on.err;
    return on.summary();
  }
  Round stopped_in() const {
    return nlohmann::json::parse(text_of(path("run/summary.json"))).at("rounds").get<Round>();
  }
};

/// The writing end of a small pipe without a reader.
class UnreadPipe {
 public:
  UnreadPipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    ::fcntl(ends_[1], F_SETPIPE_SZ, 4096);
  }
  ~UnreadPipe() {
    for (const int end : ends_) ::close(end);
  }
  UnreadPipe(const UnreadPipe&) = delete;
  UnreadPipe& operator=(const UnreadPipe&) = delete;
  void take_output() const {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(ends_[1], fd);
  }

 private:
  std::array<int, 2> ends_{};
};

/// The kernel forgets how children of such a parent ended. The launcher once waited for ever.
TEST_F(Surroundings, AParentThatIgnoresItsChildren) {
  Placed program({"run", fleet(3, 50)}, [this] {
    quiet();
    std::signal(SIGCHLD, SIG_IGN);
  });
  EXPECT_EQ(program.wait(), 0) << said();
  EXPECT_TRUE(saved());
}

/// Every run with umask 0 once refused the folders that it had made itself.
TEST_F(Surroundings, NothingUsualIsInherited) {
  const std::string file = fleet(3, 0);
  Placed program({"run", file}, [] {
    ::umask(0);
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  });
  ASSERT_TRUE(trains());
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait(), 143);
  EXPECT_TRUE(saved());
  for (const auto& each : fs::recursive_directory_iterator(path("run")))
    EXPECT_EQ(fs::perms::none, each.status().permissions() & fs::perms::others_write)
        << each.path();
}

/// GNU timeout signals its child and then the group of both. This is one order, not two.
TEST_F(Surroundings, SignalsOfOneCauseAreOne) {
  for (const int second : {SIGTERM, SIGHUP, SIGINT}) {
    fs::remove_all(path("run"));
    Placed program({"run", fleet(3, 0)}, [this] { quiet(); });
    ASSERT_TRUE(trains());
    program.kill(SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    program.kill(second);
    EXPECT_EQ(program.wait(), 143) << said();
    EXPECT_TRUE(saved()) << said();
  }
}

/// Announcements of the end by batch systems, `ulimit -t` and an inherited alarm once killed the
/// run.
TEST_F(Surroundings, AnnouncedEndsSaveToo) {
  for (const int signal : {SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM}) {
    SCOPED_TRACE(signal);
    fs::remove_all(path("run"));
    Placed program({"run", fleet(3, 0)}, [this] { quiet(); });
    ASSERT_TRUE(trains());
    program.kill(signal);
    EXPECT_EQ(program.wait(), 128 + signal) << said();
    EXPECT_TRUE(saved()) << said();
    EXPECT_FALSE(fs::exists(path("run/live.sock")));
  }
}

/// GNU timeout itself, whose SIGALRM means that the time is over.
TEST_F(Surroundings, TimeoutEndsARunThatSaves) {
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--signal=TERM"},
                                              {"--signal=INT"},
                                              {"--signal=HUP"},
                                              {"--foreground"}}) {
    SCOPED_TRACE(how[0]);
    fs::remove_all(path("run"));
    Program timed({"timeout", how[0], "1h", grapevine_program(), "run", fleet(3, 0)},
                  Program::as_it_stands);
    ASSERT_TRUE(trains());
    timed.kill(SIGALRM);
    const Ended end = timed.wait();
    EXPECT_EQ(end.code, 124) << end.err;
    EXPECT_TRUE(saved()) << end.err;
  }
}

TEST_F(Surroundings, ASessionOfItsOwnChangesNothing) {
  const std::string file = fleet(3, 50);
  const auto parameters = [&](std::vector<std::string> before) {
    before.insert(before.end(), {grapevine_program(), "run", file, "--json"});
    const Ended end = Program(before, Program::as_it_stands).wait();
    EXPECT_EQ(end.code, 0) << end.err;
    return end.summary().at("params_hash");
  };
  const auto usual = parameters({"env"});
  EXPECT_EQ(parameters({"setsid", "--wait"}), usual);
  EXPECT_EQ(parameters({"nohup"}), usual);
  EXPECT_EQ(parameters({"timeout", "1h", "setsid", "--wait"}), usual);
}

/// Sweeps start processes too, and doctor starts an agent.
TEST_F(Surroundings, SweepAndDoctorEndAsUsual) {
  const std::string file = fleet(2, 20);
  std::ofstream(path("sweep.yaml"))
      << "version: 1\nname: small\nbase: fleet.yaml\noutput: { dir: '" << path("out")
      << "' }\nvary: { method: { gossip: { topology: ring }, sums: { algorithm: all-reduce } } }\n"
         "seeds: 2\n";
  const auto trials = [this] {
    std::ptrdiff_t whole = 0;
    if (fs::exists(path("out/trials")))
      for (const auto& each : fs::directory_iterator(path("out/trials")))
        whole += fs::exists(each.path() / "summary.json") ? 1 : 0;
    return whole;
  };
  const UnreadPipe pipe;
  sigset_t all;
  sigfillset(&all);
  const std::vector<std::pair<const char*, std::function<void()>>> surroundings{
      {"as usual", [] {}},
      {"children ignored", [] { std::signal(SIGCHLD, SIG_IGN); }},
      {"signals blocked", [&] { ::sigprocmask(SIG_SETMASK, &all, nullptr); }},
      {"umask 0", [] { ::umask(0); }},
      {"no input", [] { ::close(STDIN_FILENO); }},
      {"own session", [] { ::setsid(); }},
      {"unread", [&] { pipe.take_output(); }}};
  int doctor = -1;
  for (const auto& [name, arrange] : surroundings) {
    SCOPED_TRACE(name);
    fs::remove_all(path("out"));
    const auto place = [&, &arrange = arrange] {
      quiet();
      arrange();
    };
    Placed sweep({"sweep", path("sweep.yaml")}, place);
    EXPECT_EQ(sweep.wait(), 0) << said();
    EXPECT_EQ(trials(), 4);
    Placed check({"doctor", file}, place);
    const int code = check.wait();
    if (doctor < 0) doctor = code;
    EXPECT_EQ(code, doctor) << said();
    EXPECT_TRUE(code == 0 || code == 4) << code;
  }
}

/// A machine without /proc, as some containers and chroots are.
TEST_F(Surroundings, AMachineWithoutProcTrains) {
  constexpr int no_namespace = 77;
  const auto without_proc = [this] {
    quiet();
    const bool gone = ::unshare(CLONE_NEWNS) == 0 &&
                      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                      ::mount("none", "/proc", "tmpfs", 0, nullptr) == 0;
    if (!gone) ::_exit(no_namespace);
  };
  const std::string file = fleet(3, 50);
  for (const char* command : {"run", "simulate", "plan"}) {
    SCOPED_TRACE(command);
    Placed program({command, file}, without_proc);
    const int code = program.wait();
    if (code == no_namespace) GTEST_SKIP() << "only root may hide /proc";
    EXPECT_EQ(code, 0) << said();
  }
  EXPECT_TRUE(saved());
}

/// Commands that the program prints are typed again as they stand.
TEST_F(Surroundings, PrintedCommandsWorkWhateverTheirPathsHold) {
  const std::string shell =
      "PATH=\"" + fs::path(grapevine_program()).parent_path().string() + "\":$PATH; ";
  const auto typed = [&](const std::string& command) {
    return Program({"sh", "-c", shell + "cd '" + path("") + "' && " + command},
                   Program::as_it_stands)
        .wait();
  };
  const auto printed = [](const std::string& text, const std::string& before) {
    const std::size_t at = text.find(before + "grapevine ");
    if (at == std::string::npos) return std::string();
    const std::size_t from = at + before.size();
    return text.substr(from, text.find_first_of("\n", from) - from);
  };
  for (const std::string name : {"two words", "it's", "-x", "$HOME", "a;b"}) {
    SCOPED_TRACE(name);
    fs::remove(words());
    fs::copy_file(fleet(3, 0), path(name + ".yaml"), fs::copy_options::overwrite_existing);
    Placed run_there({"run", "--set", "output.dir=" + name, "--", name + ".yaml"}, [this] {
      quiet();
      if (::chdir(path("").c_str()) != 0) ::_exit(1);
    });
    ASSERT_TRUE(comes_true([&] {
      std::error_code none_yet;
      return fs::file_size(path(name) + "/metrics.jsonl", none_yet) > 0 && !none_yet;
    })) << said();
    run_there.kill(SIGINT);
    ASSERT_EQ(run_there.wait(), 130) << said();
    std::string resume = printed(said(), "resume     ");
    resume = resume.substr(0, resume.find("   (from round"));
    ASSERT_FALSE(resume.empty()) << said();
    const Ended resumed = typed(resume + " --set stop.time=1s");
    EXPECT_EQ(resumed.code, 0) << resume << "\n" << resumed.err;
    const Ended plan = typed("grapevine plan --set stop.time=1s -- '" +
                             (name == "it's" ? std::string("it'\\''s") : name) + ".yaml'");
    const std::string start = printed(plan.output(), "nothing was started: ");
    ASSERT_FALSE(start.empty()) << plan.output() << plan.err;
    const Ended started = typed(start + " --set stop.time=1s --set output.dir=again");
    EXPECT_EQ(started.code, 0) << start << "\n" << started.err;
  }
}

TEST_F(Surroundings, AClosedTerminalSavesAndIsGoneOnWith) {
  Placed program({"run", fleet(3, 0)}, [this] { quiet(); });
  ASSERT_TRUE(trains());
  program.kill(SIGHUP);
  EXPECT_EQ(program.wait(), 129) << said();
  EXPECT_TRUE(saved()) << said();
  EXPECT_FALSE(fs::exists(path("run/live.sock")));
  goes_on_from(stopped_in());
}

/// With nohup, the program must not end with its terminal.
TEST_F(Surroundings, AnIgnoredHangupStaysIgnored) {
  Placed program({"run", fleet(3, 0)}, [this] {
    quiet();
    std::signal(SIGHUP, SIG_IGN);
  });
  ASSERT_TRUE(trains());
  program.kill(SIGHUP);
  const std::string metrics = path("run/metrics.jsonl");
  const auto before = fs::file_size(metrics);
  EXPECT_TRUE(comes_true([&] { return fs::file_size(metrics) > before; }));
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait(), 143);
}

/// Nothing is lost, with or without checkpoints in the file, and with peers of every kind.
TEST_F(Surroundings, ARunGoesOnFromTheVeryRoundInWhichItStopped) {
  for (const std::string more :
       {"", "checkpoint: { every: 300 rounds }\n", "algorithm: gradient-tracking\n",
        "algorithm: all-reduce\n", "algorithm: parameter-server\n"}) {
    SCOPED_TRACE(more);
    fs::remove_all(path("run"));
    const std::string file = fleet(4, 0, more);
    Placed program({"run", file}, [this] { quiet(); });
    ASSERT_TRUE(trains());
    program.kill(SIGINT);
    ASSERT_EQ(program.wait(), 130) << said();
    const Round stopped = stopped_in();
    const nlohmann::json end = goes_on_from(stopped);
    const std::string rounds = fmt::format("stop.rounds={}", stopped + 50);
    const Ended whole = run({"simulate", file, "--set", rounds, "--no-save", "--json"});
    EXPECT_EQ(end.at("params_hash"), whole.summary().at("params_hash"));
  }
}

TEST_F(Surroundings, APipeThatNobodyReadsHoldsNobodyUp) {
  const UnreadPipe pipe;
  Placed program({"run", fleet(3, 4000, "evaluate: { every: 10 rounds }\n")},
                 [&] { pipe.take_output(); });
  EXPECT_EQ(program.wait(), 0);
  EXPECT_TRUE(saved());
  std::ifstream metrics(path("run/metrics.jsonl"));
  std::size_t lines = 0;
  for (std::string line; std::getline(metrics, line);) ++lines;
  EXPECT_GE(lines, 400U);
}

/// Hosts once ended their peers after the leash, because the launcher stood still.
TEST_F(Surroundings, AnUnreadPipeEndsNoPeersOverSsh) {
  const std::string ssh = path("ssh");
  std::ofstream(ssh) << "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n";
  fs::permissions(ssh, fs::perms::owner_all);
  std::string text = text_of(fleet(3, 0));
  const std::string peers = "peers: 3\n";
  text.replace(text.find(peers), peers.size(),
               "hosts: { ben: { ssh: ben, address: 127.0.0.1 } }\n"
               "peers: [{ host: ben, count: 3 }]\nlaunch: { leash: 5 s, grace: 5 s }\n");
  const std::string file = path("fleet.yaml");
  std::ofstream(file) << text;
  const UnreadPipe pipe;
  Placed program({"run", file, "--set", "stop.time=9s", "--set", "evaluate.every=2 rounds"}, [&] {
    ::setenv("GRAPEVINE_SSH", ssh.c_str(), 1);
    ::setenv("XDG_CACHE_HOME", path("cache").c_str(), 1);
    pipe.take_output();
  });
  EXPECT_EQ(program.wait(), 0);
  EXPECT_TRUE(saved());
  const nlohmann::json end = nlohmann::json::parse(text_of(path("run/summary.json")));
  EXPECT_EQ(end.at("lost"), 0) << end;
  EXPECT_GE(end.at("seconds").get<double>(), 8.5) << end;
}

TEST_F(Surroundings, PeersByHandThatNobodyReadsFinish) {
  const UnreadPipe pipe;
  const std::string file = fleet(2, 4000, "evaluate: { every: 10 rounds }\n");
  const auto peer = [&](const char* id) {
    return std::vector<std::string>{"peer", file, "--id", id, "--meet", path("meeting")};
  };
  Placed zero(peer("0"), [&] { pipe.take_output(); });
  Placed one(peer("1"), [&] { pipe.take_output(); });
  EXPECT_EQ(zero.wait(), 0);
  EXPECT_EQ(one.wait(), 0);
  for (const char* id : {"000", "001"})
    EXPECT_TRUE(fs::exists(path("run/peers/") + id + "/model.safetensors"));
}

/// After Ctrl-S and a later Ctrl-Q, the terminal must show the last lines.
TEST_F(Surroundings, AStoppedTerminalHoldsNobodyUp) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  ASSERT_GE(master, 0);
  ASSERT_EQ(::grantpt(master), 0);
  ASSERT_EQ(::unlockpt(master), 0);
  const std::string name = ::ptsname(master);
  const int slave = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(::tcflow(slave, TCOOFF), 0);
  Placed program({"run", fleet(3, 30'000, "evaluate: { every: 2 rounds }\n")}, [&] {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(slave, fd);
  });
  ASSERT_TRUE(comes_true([this] { return fs::exists(path("run/model.safetensors")); }));
  ASSERT_EQ(::tcflow(slave, TCOON), 0);
  std::string shown;
  const auto read_more = [&] {
    std::array<char, 65536> some{};
    for (ssize_t n; (n = ::read(master, some.data(), some.size())) > 0;)
      shown.append(some.data(), static_cast<std::size_t>(n));
  };
  EXPECT_TRUE(comes_true([&] {
    read_more();
    return program.ended();
  }));
  read_more();
  EXPECT_EQ(program.wait(), 0);
  EXPECT_NE(shown.find("lines are left out: no program read them in time"), std::string::npos);
  EXPECT_NE(shown.find("saved      " + path("run")), std::string::npos) << shown.substr(0, 2000);
  ::close(slave);
  ::close(master);
}

/// A full standard output once ended with exit code 0.
TEST_F(Surroundings, AFullStandardOutputIsNoSuccess) {
  const std::string file = fleet(2, 20);
  ASSERT_EQ(run({"simulate", file, "--json"}).code, 0);
  const std::string table = path("t.csv");
  std::ofstream rows(table);
  rows << "x,kind\n";
  for (int k = 0; k < 40; ++k) rows << k << (k < 20 ? ",low\n" : ",high\n");
  rows.close();
  std::ofstream(path("t.yaml"))
      << "version: 1\npeers: 2\ndata: { kind: table, file: t.csv, target: kind, test: t.csv }\n"
         "model: softmax\nstop: { rounds: 9 }\noutput: { dir: '"
      << path("learnt") << "' }\n";
  const Ended learnt = run({"simulate", path("t.yaml")});
  ASSERT_EQ(learnt.code, 0) << learnt.err;
  const std::string model = path("learnt/model.safetensors");
  const std::vector<std::vector<std::string>> commands{
      {"--version"},
      {"--help"},
      {"run", file, "--json"},
      {"run", file},
      {"simulate", file, "--no-save"},
      {"plan", file},
      {"graph", "report", "--topology", "ring", "--peers", "8", "--json"},
      {"graph", "export", "--topology", "ring", "--peers", "8"},
      {"export", "--csv", "-", path("run")},
      {"explain", "peers"},
      {"predict", model, table},
      {"predict", model, table, "--json"},
      {"evaluate", model},
      {"data", path("t.yaml")},
      {"top", path("run"), "--once"}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(command, " ")));
    fs::remove(words());
    Placed program(command, [this] {
      print_to("/dev/full", {STDOUT_FILENO});
      print_to(words(), {STDERR_FILENO});
    });
    EXPECT_EQ(program.wait(), 6);
    EXPECT_NE(said().find("error: the standard output could not be written: No space left"),
              std::string::npos)
        << said();
  }
}

/// The launcher once blocked while it wrote an order to a full pipe, and ignored signals.
TEST_F(Surroundings, APeerThatStandsStillHoldsNoLauncherUp) {
  Placed program({"run", fleet(3, 0, "launch: { grace: 2 s }\n")}, [this] { quiet(); });
  ASSERT_TRUE(trains());
  const pid_t still = pid_of(1);
  ASSERT_EQ(::kill(still, SIGSTOP), 0);
  const auto takes_an_order = [this] {  // some orders are refused while many wait
    try {
      return order_run(path("run"), "/checkpoint").has_value();
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  for (int k = 0; k < 4000; ++k) ASSERT_TRUE(comes_true(takes_an_order)) << k;
  program.kill(SIGINT);
  EXPECT_EQ(program.wait(), 130) << said();
  EXPECT_FALSE(alive(still));
}

TEST_F(Surroundings, TheHomeFolderIsNoFolderOfThatName) {
  const std::string before = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  ::setenv("HOME", path("home").c_str(), 1);
  const Ended done = run({"run", fleet(2, 20), "--set", "output.dir=~/runs/{name}"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(fs::exists(path("home/runs/test/model.safetensors")));
  before.empty() ? ::unsetenv("HOME") : ::setenv("HOME", before.c_str(), 1);
}

TEST_F(Surroundings, AnInterruptedSimulationHasNotFinished) {
  Placed program({"simulate", fleet(3, 0)}, [this] { quiet(); });
  ASSERT_TRUE(trains());
  program.kill(SIGINT);
  EXPECT_EQ(program.wait(), 130) << said();
  EXPECT_NE(said().find("\nstopped: "), std::string::npos) << said();
  EXPECT_EQ(said().find("finished: "), std::string::npos) << said();
}

}  // namespace
}  // namespace gv
