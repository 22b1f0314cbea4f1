#include "peer/study/compare/expectation_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"

namespace gv {
namespace {

constexpr std::size_t longest_claim = 1000;

struct Unit {
  std::string_view name;
  Measure measure;
  double size;
};
constexpr std::array units{Unit{"us", Measure::time, 1e-6}, Unit{"ms", Measure::time, 1e-3},
                           Unit{"s", Measure::time, 1},     Unit{"min", Measure::time, 60},
                           Unit{"h", Measure::time, 3600},  Unit{"B", Measure::bytes, 1},
                           Unit{"kB", Measure::bytes, 1e3}, Unit{"MB", Measure::bytes, 1e6},
                           Unit{"GB", Measure::bytes, 1e9}, Unit{"TB", Measure::bytes, 1e12}};

/// Maps all times to one kind, and all amounts of bytes to another.
Measure kind_of(Measure measure) {
  if (measure == Measure::cpu) return Measure::time;
  return measure == Measure::memory || measure == Measure::repeated ? Measure::bytes : measure;
}

/// Reads one claim word by word.
class ClaimReader {
 public:
  explicit ClaimReader(const std::string& text) : text_(text) {
    if (text.size() > longest_claim) fail("it has more than 1000 bytes");
    std::string word;
    for (const char c : text + " ") {
      if (c != ' ') {
        word += c;
      } else if (!word.empty()) {
        words_.push_back(std::move(word));
        word.clear();
      }
    }
  }

  ExpectedClaim read() {
    ExpectedClaim claim;
    claim.text = text_;
    claim.a = name();
    if (take("<")) {
      claim.b = name();
    } else if (take("~")) {
      claim.kind = ExpectedClaim::Kind::alike;
      claim.b = name();
    } else {
      claim.kind = ExpectedClaim::Kind::value;
    }
    expect("@");
    claim.measure = measure_named(next("a measure"));
    read_rest(claim);
    if (take("where")) read_where(claim);
    if (at_ < words_.size()) fail(fmt::format("`{}` is not understood", words_[at_]));
    return claim;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument(fmt::format(
        "--expect \"{}\": {}\n"
        "help:  A < B @ time|bytes|rounds|samples|cpu|memory|accuracy|loss\n       [by 2x]\n"
        "       A ~ B @ accuracy within 1 pp, A ~ B @ time within 3 %\n"
        "       A @ time = 41 s within 20 %; each [where KEY=VALUE, KEY=VALUE]",
        printable(text_, 200), printable(why, 200)));
  }

  std::string next(const char* what) {
    if (at_ == words_.size()) fail(fmt::format("it ends where {} should be", what));
    return words_[at_++];
  }
  bool take(const std::string& word) {
    const bool there = at_ < words_.size() && words_[at_] == word;
    if (there) ++at_;
    return there;
  }
  void expect(const std::string& word) {
    if (!take(word)) fail(fmt::format("`{}` is missing", word));
  }

  /// Reads the words up to the next sign.
  std::string name() {
    std::string text;
    while (at_ < words_.size() && words_[at_] != "<" && words_[at_] != "~" && words_[at_] != "@")
      text += (text.empty() ? "" : " ") + words_[at_++];
    if (text.empty()) fail("a name is missing");
    return text;
  }

  /// Reads a number and the suffix in the same word: "2x", "20%".
  std::pair<double, std::string> number(const char* what) {
    const std::string word = next(what);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || !std::isfinite(value) || value < 0)
      fail(fmt::format("`{}` is not {}", word, what));
    return {value, std::string(end, word.data() + word.size())};
  }

  void read_rest(ExpectedClaim& claim) {
    if (claim.kind == ExpectedClaim::Kind::before) {
      if (take("by")) read_factor(claim);
      return;
    }
    if (claim.kind == ExpectedClaim::Kind::value) {
      expect("=");
      read_value(claim);
    }
    expect("within");
    read_margin(claim);
  }

  void read_factor(ExpectedClaim& claim) {
    const auto [factor, rest] = number("a factor such as 2x");
    if (rest != "x" || factor < 1) fail("a factor is at least 1x, such as `by 2x`");
    if (is_gain(claim.measure)) fail("accuracies and returns differ by an amount, not by a factor");
    claim.factor = factor;
  }

  void read_value(ExpectedClaim& claim) {
    auto [value, unit] = number("a value");
    const bool has_unit = at_ < words_.size() && words_[at_] != "within" && words_[at_] != "where";
    if (unit.empty() && has_unit) unit = next("a unit");
    const Measure kind = kind_of(claim.measure);
    if (unit == "%" && claim.measure == Measure::accuracy) {
      claim.value = value / 100;
      return;
    }
    const auto known = std::ranges::find_if(
        units, [&](const Unit& u) { return u.name == unit && u.measure == kind; });
    const bool plain = kind != Measure::time && kind != Measure::bytes;
    if (known == units.end() && !(plain && unit.empty()))
      fail(fmt::format("`{}` is no unit of {}", unit, name_of(claim.measure)));
    claim.value = known == units.end() ? value : value * known->size;
  }

  void read_margin(ExpectedClaim& claim) {
    auto [value, unit] = number("a margin such as 3 %");
    if (unit.empty()) unit = next("`%` or `pp`");
    const bool points = claim.measure == Measure::accuracy;
    if (unit != (points ? "pp" : "%"))
      fail(points ? "an accuracy is held to percentage points: `within 1 pp`"
                  : "the margin is in percent: `within 3 %`");
    if (value <= 0) fail("a margin is above 0");
    claim.margin = value / 100;
  }

  void read_where(ExpectedClaim& claim) {
    std::string all;
    while (at_ < words_.size()) all += (all.empty() ? "" : " ") + words_[at_++];
    for (std::size_t at = 0; at <= all.size();) {
      const std::size_t end = std::min(all.find(',', at), all.size());
      std::string part = all.substr(at, end - at);
      part.erase(0, part.find_first_not_of(' '));
      at = end + 1;
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0) fail("`where` takes KEY=VALUE");
      claim.where.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
  }

  const std::string& text_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

}  // namespace

ExpectedClaim parse_claim(const std::string& text) {
  return ClaimReader(text).read();
}

}  // namespace gv
