#include "peer/study/compare/expectations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/record/report/console.h"
#include "peer/study/compare/statistics.h"

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

using Verdict = JudgedClaim::Verdict;

std::set<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

/// Returns the words by which a contender may be called.
std::set<std::string> names_of(const Contender& c) {
  std::set<std::string> names = words_of(c.label);
  for (const std::string& value : c.group->values) {
    names.insert(value);
    names.merge(words_of(value));
  }
  const StoredRun& run = *c.group->runs.front();
  names.insert({run.algorithm, run.order, run.topology});
  return names;
}

/// Returns whether the claim is about this contender; `network=5 ms` means any key of `network`.
bool is_meant(const Contender& c, const ExpectedClaim& claim) {
  return std::ranges::all_of(claim.where, [&](const auto& wanted) {
    return std::ranges::any_of(c.group->keys, [&](const auto& has) {
      const bool key = has.first == wanted.first || has.first.starts_with(wanted.first + ".");
      return key && has.second == wanted.second;
    });
  });
}

std::size_t find_contender(const Section& section,
                           const std::string& name,
                           const ExpectedClaim& claim) {
  const std::set<std::string> wanted = words_of(name);
  std::vector<std::size_t> found;
  std::vector<std::string> labels;
  for (std::size_t k = 0; k < section.contenders.size(); ++k) {
    const Contender& c = section.contenders[k];
    if (!is_meant(c, claim)) continue;
    labels.push_back("`" + c.label + "`");
    if (c.label == name) return k;
    const std::set<std::string> names = names_of(c);
    if (std::ranges::includes(names, wanted)) found.push_back(k);
  }
  if (found.size() == 1) return found.front();
  const std::string place = name_of(section);
  throw std::invalid_argument(
      fmt::format("--expect: `{}` is {}{}\nhelp:  there are {}", printable(name, 100),
                  found.empty() ? "nobody" : "more than one", place.empty() ? "" : " in " + place,
                  fmt::join(labels, ", ")));
}

struct Finding {
  Verdict verdict = Verdict::undecided;
  std::string reason;
};

/// Passed if the interval is wholly above the mark, missed if it is wholly below.
Verdict beyond(double low, double high, double mark) {
  if (low > mark) return Verdict::passed;
  return high < mark ? Verdict::missed : Verdict::undecided;
}

/// Passed by Schuirmann's tests; missed if the 95 % interval is wholly outside the margin.
Verdict inside(std::span<const double> values, double margin) {
  const auto wide = mean_interval(values);
  if (!wide) return Verdict::undecided;
  if (equivalent(values, margin)) return Verdict::passed;
  const bool outside = wide->low > margin || wide->high < -margin;
  return outside ? Verdict::missed : Verdict::undecided;
}

std::string too_few(std::size_t seeds) {
  return fmt::format("{} seeds in common, and an interval needs {}", seeds, fewest_seeds);
}

Finding judge_order(const PairResult& r, const ExpectedClaim& claim) {
  if (r.missed > 0) {
    if (r.outcome == PairOutcome::before && claim.factor == 1)
      return {Verdict::passed, "better in every pair: the other misses the target"};
    if (r.outcome == PairOutcome::behind)
      return {Verdict::missed, "worse in every pair, or past the target"};
    return {Verdict::undecided, fmt::format("{} of {} pairs have no value of {}", r.missed, r.seeds,
                                            name_of(r.measure))};
  }
  if (!r.low) return {Verdict::undecided, too_few(r.seeds)};
  if (is_gain(r.measure)) return {beyond(-*r.high, -*r.low, 0), difference_text(r)};
  return {beyond(*r.low, *r.high, r.ratio ? claim.factor : 0), difference_text(r)};
}

Finding judge_alike(const PairResult& r, const ExpectedClaim& claim) {
  if (r.missed > 0)
    return {Verdict::undecided, fmt::format("{} of {} pairs have no value of {}", r.missed, r.seeds,
                                            name_of(r.measure))};
  if (!r.low) return {Verdict::undecided, too_few(r.seeds)};
  if (!r.ratio && r.measure != Measure::accuracy)
    return {Verdict::undecided, is_gain(r.measure)
                                    ? "returns are compared by their difference, not by a ratio"
                                    : "values that are not positive have no ratio"};
  const double margin = r.ratio ? std::log1p(claim.margin) : claim.margin;
  return {inside(r.differences, margin), difference_text(r)};
}

Finding judge_value(const Contender& c, const ExpectedClaim& claim) {
  std::vector<double> distances;
  for (const SeedRun& run : c.entries) {
    const auto value = measured(run, claim.measure);
    if (!value) return {Verdict::undecided, "not every seed has a value"};
    const bool points = claim.measure == Measure::accuracy;
    if (!points && (*value <= 0 || claim.value <= 0))
      return {Verdict::undecided, "values that are not positive have no ratio"};
    distances.push_back(points ? *value - claim.value : std::log(*value / claim.value));
  }
  const auto summary = summary_of(c, claim.measure);
  if (!summary->low) return {Verdict::undecided, too_few(distances.size())};
  const double margin =
      claim.measure == Measure::accuracy ? claim.margin : std::log1p(claim.margin);
  return {inside(distances, margin),
          fmt::format("{} ({} .. {})", cell_text(summary->mean, claim.measure),
                      cell_text(*summary->low, claim.measure),
                      cell_text(*summary->high, claim.measure))};
}

Finding judge_in(const Section& section, const ExpectedClaim& claim) {
  const std::size_t a = find_contender(section, claim.a, claim);
  if (claim.kind == ExpectedClaim::Kind::value) return judge_value(section.contenders[a], claim);
  const std::size_t b = find_contender(section, claim.b, claim);
  if (a == b)
    throw std::invalid_argument(fmt::format("--expect \"{}\": `{}` and `{}` are the same",
                                            printable(claim.text, 200), printable(claim.a, 100),
                                            printable(claim.b, 100)));
  const PairResult r = compare_pair(section.contenders, a, b, claim.measure);
  return claim.kind == ExpectedClaim::Kind::before ? judge_order(r, claim) : judge_alike(r, claim);
}

}  // namespace

ExpectedClaim parse_claim(const std::string& text) {
  return ClaimReader(text).read();
}

JudgedClaim judge_claim(const Comparison& comparison, const ExpectedClaim& claim) {
  JudgedClaim judged{.text = claim.text, .verdict = Verdict::passed, .reason = ""};
  std::size_t sections = 0;
  for (const Section& section : comparison.sections) {
    if (std::ranges::none_of(section.contenders,
                             [&](const Contender& c) { return is_meant(c, claim); }))
      continue;
    ++sections;
    const Finding finding = judge_in(section, claim);
    const std::string place = name_of(section);
    judged.reason += judged.reason.empty() ? "" : "; ";
    judged.reason += place.empty() ? finding.reason : place + ": " + finding.reason;
    if (finding.verdict == Verdict::missed || judged.verdict == Verdict::missed)
      judged.verdict = Verdict::missed;
    else if (finding.verdict == Verdict::undecided)
      judged.verdict = Verdict::undecided;
  }
  if (sections > 0) return judged;
  throw std::invalid_argument(
      fmt::format("--expect \"{}\": no run has such a value\nhelp:  `where` takes keys of "
                  "the fleet file, or axes of a sweep",
                  printable(claim.text, 200)));
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::missed:
      return "missed";
    case Verdict::undecided:
      break;
  }
  return "undecided";
}

std::string to_string(const JudgedClaim& claim) {
  return wrapped(fmt::format("{}: {}: {}", name_of(claim.verdict), claim.text, claim.reason), 4);
}

Json claims_json(const std::vector<JudgedClaim>& claims) {
  return mapped(claims, [](const JudgedClaim& claim) {
    return Json{
        {"claim", claim.text}, {"verdict", name_of(claim.verdict)}, {"measured", claim.reason}};
  });
}

}  // namespace gv
