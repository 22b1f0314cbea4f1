#include "peer/launch/lobby/join_code.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "optim/rng.h"
#include "peer/wire/seal/spake2.h"

namespace gv {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(JoinCode, SurvivesBeingReadAloud) {
  const JoinCode code{42, "731908"};
  EXPECT_EQ(to_string(code), "42-731-908");
  for (const char* text :
       {"42-731-908", "42731908", "42 731 908", " 4-2-7 3 1 9-0-8 ", "42--731908"})
    EXPECT_EQ(parse_join_code(text), code) << text;
  EXPECT_EQ(to_string(JoinCode{7, "000001"}), "07-000-001");
  for (int k = 0; k < 1000; ++k) {
    const JoinCode drawn = new_join_code();
    EXPECT_EQ(parse_join_code(to_string(drawn)), drawn);
    EXPECT_LT(drawn.lobby, 100U);
    EXPECT_EQ(drawn.secret.size(), 6U);
  }
}

TEST(JoinCode, IsNothingElse) {
  for (const char* text :
       {"", "-", "42-731-90", "42-731-9081", "42-731-90a", "+42731908", "42_731_908", "42.731.908",
        "42-731-908\n", "42\t731908", "4.2731908e7", "0x42731908",
        "42\xe2\x80\x93"
        "731908"})
    EXPECT_FALSE(parse_join_code(text)) << text;
  EXPECT_FALSE(parse_join_code(std::string_view("42731908\0", 9)));
  EXPECT_FALSE(parse_join_code(std::string(100'000, '1')));
}

/// A code has no check digit, since each would make guessing ten times easier; so a wrong digit is
/// another code, and a digit too many or too few is none.
TEST(JoinCode, OfAWrongDigitIsAnotherOrNone) {
  const JoinCode code = new_join_code();
  const std::string text = to_string(code);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '-') continue;
    for (char digit = '0'; digit <= '9'; ++digit) {
      std::string typo = text;
      typo[at] = digit;
      const auto other = parse_join_code(typo);
      ASSERT_TRUE(other) << typo;
      EXPECT_EQ(*other == code, digit == text[at]) << typo;
      EXPECT_FALSE(parse_join_code(text.substr(0, at) + digit + text.substr(at)));
    }
    EXPECT_FALSE(parse_join_code(text.substr(0, at) + text.substr(at + 1)));
  }
}

/// Chi-squared of ten digits at each of eight places, 9 degrees of freedom: above 60 by chance once
/// in 10^9 times.
TEST(JoinCode, HasEachDigitEquallyOften) {
  constexpr int n = 20'000;
  std::array<std::array<int, 10>, 8> counts{};
  std::set<std::string> different;
  for (int k = 0; k < n; ++k) {
    const JoinCode code = new_join_code();
    const std::string digits = fmt::format("{:02}{}", code.lobby, code.secret);
    different.insert(digits);
    for (std::size_t at = 0; at < 8; ++at) ++counts[at][static_cast<std::size_t>(digits[at] - '0')];
  }
  for (const auto& place : counts) {
    double chi_squared = 0.0;
    for (const int count : place)
      chi_squared += (count - n / 10.0) * (count - n / 10.0) / (n / 10.0);
    EXPECT_LT(chi_squared, 60.0);
  }
  EXPECT_GT(different.size(), n - 50U) << "two are expected to be equal";
}

TEST(JoinCode, IsStretchedWithItsLobby) {
  const Secret stretched = stretch(JoinCode{42, "731908"});
  EXPECT_EQ(stretched.size(), 40U);
  EXPECT_EQ(stretched, stretch("731908", "grapevine lobby 42"));
  EXPECT_NE(stretched, stretch(JoinCode{43, "731908"}));
  EXPECT_NE(stretched, stretch(JoinCode{42, "731909"}));
}

TEST(JoinAttempts, CountByMachine) {
  EXPECT_EQ(attempt_source("192.168.0.7"), "192.168.0.7");
  EXPECT_EQ(attempt_source("::ffff:192.168.0.7"), "192.168.0.7");
  EXPECT_EQ(attempt_source("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(attempt_source("2001:db8:1:2:ffff::"), attempt_source("2001:db8:1:2::1"));
  EXPECT_NE(attempt_source("2001:db8:1:3::1"), attempt_source("2001:db8:1:2::1"));
  EXPECT_EQ(attempt_source("fe80::1%eth0"), "fe80::/64%eth0");
  for (const std::string& text : {std::string(), std::string("anna"), std::string(1000, 'x')})
    EXPECT_EQ(attempt_source(text), "?");
  EXPECT_LE(attempt_source("fe80::1%" + std::string(100'000, 'x')).size(), 64U);
}

TEST(JoinAttempts, OfOneSourceWaitLongerAndLonger) {
  JoinAttempts attempts;
  Time now = hours(1000);
  const std::vector<int> waits{0, 0, 5, 10, 20, 40, 80, 160, 320, 600, 600, 600};
  for (const int wait : waits) {
    EXPECT_FALSE(attempts.wait("10.0.0.7", now));
    attempts.failed("10.0.0.7", now);
    EXPECT_EQ(attempts.wait("10.0.0.7", now).value_or(Time{0}), seconds(wait));
    EXPECT_FALSE(attempts.wait("10.0.0.8", now)) << "another source waits for its own";
    now += seconds(wait);
  }
  attempts.failed("10.0.0.7", now);
  attempts.succeeded("10.0.0.7");
  EXPECT_FALSE(attempts.wait("10.0.0.7", now)) << "the right code clears the wrong ones";
  EXPECT_EQ(attempts.sources(), 0U);
}

TEST(JoinAttempts, OfManySourcesShareOneLimit) {
  JoinAttempts attempts;
  const auto source = [](int k) { return fmt::format("10.0.1.{}", k); };
  const Time now = hours(3);
  for (int k = 0; k < 20; ++k) {
    EXPECT_FALSE(attempts.wait(source(k), now)) << k;
    attempts.failed(source(k), now);
  }
  EXPECT_EQ(attempts.wait(source(20), now), Time(minutes(1)));
  EXPECT_EQ(attempts.wait(source(20), now + seconds(40)), Time(seconds(20)));
  EXPECT_FALSE(attempts.wait(source(20), now + minutes(1)));
  attempts.succeeded(source(0));
  EXPECT_EQ(attempts.wait(source(0), now), Time(minutes(1))) << "a right code gives none back";
  EXPECT_FALSE(attempts.wait(source(21), now + hours(1)));
  for (int k = 0; k < 100; ++k) attempts.failed(source(k), now + hours(1));
  EXPECT_EQ(attempts.wait("10.0.0.7", now + hours(1)), Time(minutes(1)))
      << "attempts that no lobby should have checked make no source wait longer";
}

/// A guesser that tries one of its sources at each drawn time until `end`, if the lobby lets it.
struct Guesser {
  std::vector<std::string> sources;
  std::vector<std::size_t> wrong_codes = std::vector<std::size_t>(sources.size());

  std::size_t guess(JoinAttempts& attempts, Rng& rng, Time mean_pause, Time end) {
    std::size_t all = 0;
    for (Time now{0}; now <= end;
         now += Time(static_cast<Time::rep>(2.0 * rng.uniform() * double(mean_pause.count())))) {
      const std::size_t k = rng.below(sources.size());
      if (attempts.wait(sources[k], now)) continue;
      attempts.failed(sources[k], now);
      ++wrong_codes[k];
      ++all;
      EXPECT_LE(attempts.sources(), JoinAttempts::most_sources);
    }
    return all;
  }
};

std::vector<std::string> sources_of_guesser(std::size_t n) {
  std::vector<std::string> sources;
  for (std::size_t k = 0; k < n; ++k)
    sources.push_back(attempt_source(fmt::format("2001:db8:{:x}:{:x}::1", k / 65536, k % 65536)));
  return sources;
}

TEST(JoinAttempts, OfADayAreTooFewToGuessACode) {
  constexpr std::size_t most_in_all = 20 + 24 * 60;
  constexpr std::size_t most_of_one = 3 + 7 + (86'400 - 635) / 600;
  static_assert(most_in_all == 1460 && most_of_one == 152, "see the header");
  const std::vector<std::size_t> numbers{1, 2, 5, 20, 100, 999, 1000, 1001, 5000, 100'000};
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed);
    Guesser guesser{sources_of_guesser(numbers[seed % numbers.size()])};
    JoinAttempts attempts;
    const Time pause = seconds(1 + static_cast<int>(rng.below(20)));
    const std::size_t all = guesser.guess(attempts, rng, pause, hours(24));
    EXPECT_LE(all, most_in_all) << seed;
    EXPECT_LE(std::ranges::max(guesser.wrong_codes), most_of_one) << seed;
    const bool many = guesser.sources.size() >= 100;
    EXPECT_GT(all, many ? most_in_all * 8 / 10 : 100) << seed;
  }
}

/// The fastest guessers reach the bounds of the header, and do not pass them.
TEST(JoinAttempts, OfTheFastestGuessersAreAtTheBound) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{3000}}) {
    const std::vector<std::string> sources = sources_of_guesser(n);
    JoinAttempts attempts;
    std::size_t made = 0;
    for (Time now{0}; now <= hours(24); now += seconds(5)) {
      while (!attempts.wait(sources[made % n], now)) {
        attempts.failed(sources[made % n], now);
        ++made;
      }
    }
    EXPECT_EQ(made, n == 1 ? 152U : 1460U);
  }
}

TEST(JoinAttempts, LetAnHonestSourceInAfterItsWait) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    JoinAttempts attempts;
    Guesser guesser{sources_of_guesser(1 + rng.below(2000))};
    Time now = hours(1 + static_cast<int>(rng.below(3)));
    guesser.guess(attempts, rng, seconds(2), now);
    for (std::uint64_t typos = rng.below(6); typos > 0; --typos) {
      now += attempts.wait("10.0.0.7", now).value_or(Time{0});
      attempts.failed("10.0.0.7", now);
    }
    const Time wait = attempts.wait("10.0.0.7", now).value_or(Time{0});
    EXPECT_LE(wait, minutes(1)) << "five typos make 20 s, all attempts in use one minute";
    EXPECT_FALSE(attempts.wait("10.0.0.7", now + wait));
    if (wait > Time{0}) {
      EXPECT_TRUE(attempts.wait("10.0.0.7", now + wait - Time{1}));
    }
  }
}

}  // namespace
}  // namespace gv
