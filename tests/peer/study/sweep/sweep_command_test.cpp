#include <csignal>
#include <map>
#include <set>

#include "tests/peer/launch/program.h"
#include "tests/peer/study/sweep/sweep_fixture.h"
#include "tests/text_of.h"

// Sweeps as a user runs them: the program, its workers and its folder.

namespace gv {
namespace {

namespace fs = std::filesystem;

class SweepCommand : public SweepFolders {
 protected:
  SweepCommand() {
    write("sweep.yaml",
          head() +
              "vary:\n"
              "  method: { gossip: { topology: ring }, sums: { algorithm: all-reduce } }\n"
              "  network: { near: { network: { latency: 1 ms } }, far: { network: { latency: 9 ms "
              "} } }\n"
              "seeds: 2\n"
              "target: { loss: 0.05 }\n"
              "tune: { with: { train.optimizer.lr: { log: [0.01, 0.5] } }, trials: 9, by: halving "
              "}\n"
              "expect: [\"gossip < sums @ time\"]\n");
  }

  std::vector<std::string> words(std::vector<std::string> more) const {
    more.insert(more.begin(), {"sweep", path("sweep.yaml")});
    return more;
  }
  /// Returns the metrics of every finished trial, by folder.
  std::map<std::string, std::string> trials() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(path("out/trials")))
      all[entry.path().filename().string()] = text_of(entry.path() / "metrics.jsonl");
    return all;
  }
  /// Returns the time at which each trial finished.
  std::map<std::string, fs::file_time_type> times() const {
    std::map<std::string, fs::file_time_type> all;
    for (const auto& entry : fs::directory_iterator(path("out/trials")))
      all[entry.path().filename().string()] = fs::last_write_time(entry.path() / "summary.json");
    return all;
  }
  static constexpr int all_trials = 2 * 2 * (9 + 3 + 1) + 2 * 2 * 2;
};

TEST_F(SweepCommand, AnAnswerStandsBetweenTheMarksOfTheReadme) {
  const std::string head_of_page = "# A question\n\n<!-- answer -->\n";
  const std::string end_of_page = "<!-- end of answer -->\n\nWords.\n";
  EXPECT_NE(run(words({"--answer"})).code, 0) << "there is no README yet";
  const auto page = [&] { return text_of(path("README.md")); };
  write("README.md", head_of_page + "stale\n" + end_of_page);
  const Ended ended = run(words({"--answer"}));
  const std::string first = page();
  EXPECT_TRUE(first.starts_with(head_of_page)) << first;
  EXPECT_TRUE(first.ends_with(end_of_page)) << first;
  EXPECT_EQ(first.find("stale"), std::string::npos);
  EXPECT_NE(first.find("network near"), std::string::npos) << "apart for each network";
  const bool passed = first.find("`gossip < sums @ time`: passed") != std::string::npos;
  EXPECT_EQ(ended.code, passed ? 0 : 4) << ended.err;
  run(words({"--answer"}));
  EXPECT_EQ(page(), first) << "the same again";
  // Lines of a page from Windows once hid the marks. An end before the begin is not the end.
  const std::string windows = "The mark <!-- end of answer --> ends it.\r\n<!-- answer -->\r\n";
  write("README.md", windows + "stale\r\n<!-- end of answer -->\r\n");
  run(words({"--answer"}));
  EXPECT_TRUE(page().starts_with(windows)) << page();
  EXPECT_TRUE(page().ends_with("\n<!-- end of answer -->\r\n")) << page();
  EXPECT_EQ(page().find("stale"), std::string::npos);
  for (const char* without :
       {"# No marks\n", "<!-- answer -->\n", "<!-- end of answer -->\n<!-- answer -->\n"}) {
    write("README.md", without);
    const Ended refused = run(words({"--answer"}));
    EXPECT_NE(refused.code, 0);
    for (const char* mark : {"`<!-- answer -->`", "`<!-- end of answer -->`"})
      EXPECT_NE(refused.err.find(mark), std::string::npos) << refused.err;
    EXPECT_EQ(page(), without);
  }
}

/// Without a target, the sweep compares the ends of runs, and tunes for the best end.
TEST_F(SweepCommand, WithoutATargetTheEndIsTunedForAndCompared) {
  write("sweep.yaml",
        head() +
            "vary: { method: { gossip: { topology: ring } } }\n"
            "tune: { with: { train.optimizer.lr: [0.001, 0.1, 0.01] }, trials: 3, by: grid }\n");
  const Ended ended = run(words({}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string out = ended.output();
  EXPECT_NE(out.find("3 trials  lr 0.1  loss "), std::string::npos) << out;
  EXPECT_EQ(out.find("--target"), std::string::npos) << out;
  const Ended compared = run({"report", path("out"), "--output", path("page.html")});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_NE(text_of(path("page.html")).find("loss at the end"), std::string::npos);
}

TEST_F(SweepCommand, TunesMeasuresAndSaysWhichCommandCompares) {
  const Ended ended = run(words({}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string out = ended.output();
  EXPECT_NE(out.find("tune    gossip  9 trials  lr "), std::string::npos) << out;
  EXPECT_NE(out.find("60 of 60 trials are done, 4 by clock alone"), std::string::npos) << out;
  EXPECT_NE(out.find("grapevine compare " + path("out") +
                     " --target loss=0.05 --expect 'gossip < sums @ time'"),
            std::string::npos)
      << out;
  const Ended asked = run({"compare", path("out"), "--target", "loss=0.05"});
  EXPECT_EQ(run({"compare", path("out")}).out, asked.out) << "the sweep's own target";
  EXPECT_EQ(trials().size(), static_cast<std::size_t>(all_trials));
  EXPECT_TRUE(fs::is_empty(path("out/working")));
  EXPECT_TRUE(fs::is_empty(path("out/claims")));
  int promoted = 0;
  for (const auto& entry : fs::directory_iterator(path("out/trials"))) {
    const auto trial = nlohmann::json::parse(std::ifstream(entry.path() / "trial.json"));
    promoted += trial.at("from_round").get<int>() > 0 ? 1 : 0;
    EXPECT_EQ(trial.at("ended").get<std::string>().size(), 20U);
    const auto about = nlohmann::json::parse(std::ifstream(entry.path() / "run.json"));
    EXPECT_EQ(about.at("ended").at("at"), trial.at("ended"));
    EXPECT_FALSE(fs::exists(entry.path() / "peers/000/checkpoints")) << "of no use any more";
  }
  EXPECT_EQ(promoted, 2 * 2 * (3 + 1)) << "they go on from the rung before";
  for (const auto& entry : fs::directory_iterator(path("out/trials")))
    for (const char* file : {"run.json", "fleet.yaml", "metrics.jsonl", "summary.json"})
      EXPECT_TRUE(fs::exists(entry.path() / file)) << entry.path() << " " << file;
}

TEST_F(SweepCommand, ASecondOneHasNothingLeft) {
  ASSERT_EQ(run(words({})).code, 0);
  const auto before = times();
  ASSERT_EQ(run(words({})).code, 0);
  EXPECT_EQ(times(), before);
}

/// The sweep is killed with all its workers, again and again. No finished trial is repeated, and
/// the trials end as without a kill.
TEST_F(SweepCommand, GoesOnAfterAnyKill) {
  ASSERT_EQ(run(words({})).code, 0);
  const auto whole = trials();
  fs::remove_all(path("out"));
  std::size_t last = 0;
  for (std::size_t kill = 1; kill <= 6; ++kill) {
    Program program(words({}));
    const std::size_t enough = last + kill;
    ASSERT_TRUE(comes_true([&] {
      std::error_code none;
      std::size_t count = 0;
      for (const auto& entry : fs::directory_iterator(path("out/trials"), none))
        count += fs::exists(entry.path()) ? 1 : 0;
      return count >= enough;
    }));
    program.kill(SIGKILL);
    ASSERT_EQ(program.wait().code, 1000 + SIGKILL);
    last = trials().size();
  }
  const auto before = times();
  ASSERT_EQ(run(words({})).code, 0);
  EXPECT_EQ(trials(), whole);
  const auto after = times();
  for (const auto& [folder, time] : before) EXPECT_EQ(after.at(folder), time) << folder;
}

/// A second process on the same sweep shares its work.
TEST_F(SweepCommand, SeveralShareTheWork) {
  Program first(words({"--workers", "1", "--json"}));
  Program second(words({"--workers", "1", "--json"}));
  Program third(words({"--workers", "1", "--json"}));
  std::size_t sum = 0;
  for (Program* program : {&first, &second, &third}) {
    const Ended ended = program->wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.summary().at("done").get<int>(), all_trials);
    sum += ended.summary().at("finished_here").get<std::size_t>();
  }
  EXPECT_EQ(sum, static_cast<std::size_t>(all_trials)) << "one was done twice";
}

/// A worker that dies costs its trial. The next start repeats that trial.
TEST_F(SweepCommand, ACrashCostsOneTrial) {
  write("base.yaml",
        std::string(base).replace(std::string(base).find("rounds: 60"), 10, "rounds: 400000"));
  write("sweep.yaml", head() + "seeds: 1\n");
  Program program(words({"--workers", "1"}));
  // The process that measured the memory has ended by then.
  ASSERT_TRUE(comes_true([&] {
    std::error_code none;
    return fs::exists(path("out/working"), none) && !fs::is_empty(path("out/working"), none);
  }));
  pid_t worker = 0;
  ASSERT_TRUE(comes_true([&] {
    std::ifstream in(fmt::format("/proc/{0}/task/{0}/children", program.pid()));
    return static_cast<bool>(in >> worker);
  }));
  ::kill(worker, SIGKILL);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("killed by signal 9"), std::string::npos) << ended.err;
  EXPECT_NE(ended.output().find("1 failed"), std::string::npos) << ended.output();
  EXPECT_EQ(run(words({"--list"})).output().substr(0, 11), "0001 failed");
  write("base.yaml", base);
  EXPECT_EQ(run(words({})).code, 0);
  EXPECT_EQ(trials().size(), 1U);
  EXPECT_TRUE(fs::is_empty(path("out/failed")));
}

TEST_F(SweepCommand, AnInterruptEndsItCleanly) {
  write("base.yaml",
        std::string(base).replace(std::string(base).find("rounds: 60"), 10, "rounds: 400000"));
  Program program(words({}));
  ASSERT_TRUE(comes_true([&] {
    std::error_code none;
    return fs::exists(path("out/working"), none) && !fs::is_empty(path("out/working"), none);
  }));
  program.kill(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130);
  EXPECT_NE(ended.err.find("the same command continues"), std::string::npos) << ended.err;
  EXPECT_TRUE(fs::is_empty(path("out/claims")));
}

/// A loss that is not finite is a result, not a failure.
TEST_F(SweepCommand, ADivergedTrialIsAResult) {
  write("sweep.yaml", head() + "vary: { train.optimizer.lr: [0.1, 1000] }\n");
  const Ended ended = run(words({"--json"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary().at("diverged"), 1);
  EXPECT_EQ(ended.summary().at("list").at(1).at("state"), "diverged");
  const auto before = times();
  ASSERT_EQ(run(words({})).code, 0);
  EXPECT_EQ(times(), before) << "and is not tried again";
}

/// A trial that a changed file shares with the previous one is not repeated.
TEST_F(SweepCommand, AChangedFileReusesWhatFits) {
  write("sweep.yaml", head() + "vary: { train.optimizer.lr: [0.1, 0.2] }\n");
  ASSERT_EQ(run(words({})).code, 0);
  const auto before = times();
  write("sweep.yaml", head() + "vary: { train.optimizer.lr: [0.1, 0.2, 0.3] }\n");
  ASSERT_EQ(run(words({})).code, 0);
  const auto after = times();
  EXPECT_EQ(after.size(), 3U);
  for (const auto& [folder, time] : before) EXPECT_EQ(after.at(folder), time) << folder;
  write("base.yaml", std::string(base) + "weights: lazy\n");
  ASSERT_EQ(run(words({})).code, 2) << "no such key at the top";
  write("base.yaml",
        std::string(base).replace(std::string(base).find("noise: 0.1"), 10, "noise: 0.2"));
  ASSERT_EQ(run(words({})).code, 0);
  for (const auto& [folder, time] : before) EXPECT_NE(times().at(folder), time) << folder;
  EXPECT_EQ(times().size(), 3U);
}

TEST_F(SweepCommand, OnlyDoesWhatItNames) {
  ASSERT_EQ(run(words({"--only", "method=gossip", "--only", "seed=5"})).code, 0);
  EXPECT_EQ(trials().size(), 26U + 2);
  const Ended bad = run(words({"--only", "method=gosip"}));
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.err.find("there are: gossip, sums"), std::string::npos) << bad.err;
}

TEST_F(SweepCommand, ADryRunCountsAndStartsNothing) {
  const Ended ended = run(words({"--dry-run", "--json"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary().at("cells"), 4);
  EXPECT_EQ(ended.summary().at("tuning_trials"), 52);
  // Each method and seed trains 9 ninths, then 3 times two ninths, then two thirds.
  EXPECT_NEAR(ended.summary().at("tuning_trainings").get<double>(), 4 * 7.0 / 3, 1e-9);
  EXPECT_EQ(ended.summary().at("trainings"), 4);
  EXPECT_EQ(ended.summary().at("replays"), 4);
  EXPECT_GT(ended.summary().at("wall_seconds").get<double>(), 0);
  EXPECT_GT(ended.summary().at("trial_memory_bytes").get<double>(), 0);
  EXPECT_GT(ended.summary().at("free_memory_bytes").get<double>(), 0);
  EXPECT_GT(ended.summary().at("checkpoint_bytes").get<double>(), 2 * 2 * 9 * 4 * 16 * 4.0)
      << "of nine points, two methods and two seeds: x of each of four peers at least";
  EXPECT_FALSE(fs::exists(path("out")));
}

/// Halving finds nearly the result of full training, for less.
TEST_F(SweepCommand, HalvingIsNearTheWholeTuning) {
  const auto tuned = [&](const std::string& by) {
    write("sweep.yaml",
          head() +
              "vary: { method: { gossip: { topology: ring }, sums: { algorithm: all-reduce } } }\n"
              "target: { loss: 0.05 }\n"
              "tune: { with: { train.optimizer.lr: { log: [0.01, 1] } }, trials: 18, by: " +
              by + " }\n");
    fs::remove_all(path("out"));
    const Ended ended = run(words({"--json", "--only", "stage=tune"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.summary().at("tuned");
  };
  const auto whole = tuned("random");
  const auto halving = tuned("halving");
  ASSERT_EQ(whole.size(), 2U);
  for (std::size_t f = 0; f < 2; ++f)
    EXPECT_LE(halving[f].at("cost").get<double>(), 1.05 * whole[f].at("cost").get<double>());
}

/// Trials do not wait for a whole rung, processes share the work, and tuned values are measured.
TEST_F(SweepCommand, AshaIsSharedAndEnds) {
  const std::string text = text_of(path("sweep.yaml"));
  write("sweep.yaml", std::string(text).replace(text.find("by: halving"), 11, "by: asha"));
  Program first(words({"--workers", "1", "--json"}));
  Program second(words({"--workers", "1", "--json"}));
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_EQ(second.wait().code, 0);
  const Ended again = run(words({"--json"}));
  ASSERT_EQ(again.code, 0) << again.err;
  const auto summary = again.summary();
  EXPECT_EQ(summary.at("tuned").size(), 2U);
  EXPECT_EQ(summary.at("done"), summary.at("trials"));
  EXPECT_EQ(trials().size(), summary.at("done").get<std::size_t>()) << "nothing for nothing";
  EXPECT_GE(trials().size(), static_cast<std::size_t>(all_trials));
  EXPECT_TRUE(fs::is_empty(path("out/claims")));
}

/// The range is widened for all methods, earlier trials stay, and the best of all is measured.
TEST_F(SweepCommand, ExtendWidensARangeAtWhoseEndTheBestLies) {
  write("sweep.yaml",
        head() +
            "vary: { method: { gossip: { topology: ring }, sums: { algorithm: all-reduce } } }\n"
            "target: { loss: 0.05 }\n"
            "tune: { with: { train.optimizer.lr: { log: [0.001, 0.04] } }, trials: 6 }\n");
  EXPECT_EQ(run(words({"--extend"})).code, 2) << "nothing is tuned yet";
  const Ended narrow = run(words({"--json"}));
  ASSERT_EQ(narrow.code, 0) << narrow.err;
  const auto before = times();
  EXPECT_EQ(before.size(), 2U * 6 * 2 + 2);
  const Ended wide = run(words({"--extend", "--json"}));
  ASSERT_EQ(wide.code, 0) << wide.err;
  EXPECT_NE(wide.err.find("extended: train.optimizer.lr to 0.04 .. 0.253"), std::string::npos)
      << wide.err;
  EXPECT_EQ(wide.summary().at("trials"), 2 * (6 + 3) * 2 + 2);
  for (std::size_t f = 0; f < 2; ++f)
    EXPECT_NE(wide.summary()["tuned"][f]["values"], narrow.summary()["tuned"][f]["values"]);
  const auto after = times();
  for (const auto& [folder, time] : before) {
    if (folder.find("tune") != std::string::npos) {
      EXPECT_EQ(after.at(folder), time) << folder;
    } else {
      EXPECT_NE(after.at(folder), time) << folder;
    }
  }
  EXPECT_EQ(run(words({"--list"})).out.size(), 38U);
}

/// Real fleets: one after the other, by the run command.
TEST_F(SweepCommand, RunsRealFleets) {
  write("sweep.yaml", head() + "in: run\nvary: { topology: [ring, star] }\n");
  const Ended ended = run(words({"--json"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary().at("done"), 2);
  for (const auto& [folder, metrics] : trials())
    EXPECT_NE(metrics.find("\"round\":60"), std::string::npos) << folder;
}

TEST_F(SweepCommand, WritesABatchScript) {
  const Ended ended = run(words({"--submit", "slurm", "--tasks", "3"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string script = path("out/sweep.sbatch");
  EXPECT_EQ(std::system(("sh -n '" + script + "'").c_str()), 0);
  EXPECT_EQ(std::system(("sh '" + script + "' > '" + path("log") + "'").c_str()), 0);
  EXPECT_EQ(trials().size(), static_cast<std::size_t>(all_trials));
}

}  // namespace
}  // namespace gv
