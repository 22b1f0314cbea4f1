#include "peer/launch/program/scout.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "optim/printable.h"
#include "optim/unknown_figure.h"
#include "peer/fleet/read/sections.h"
#include "peer/launch/process/launcher_line.h"
#include "peer/launch/process/process.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/launch/program/own_program.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_words = 60;          ///< lines that are kept
constexpr std::size_t longest_word_line = 500;  ///< bytes

Evaluation no_figures() {
  return {.loss = unknown_figure(), .accuracy = std::nullopt};
}

/// Returns the program's figures; an accuracy out of range is dropped.
Evaluation evaluation_of(const asked::Figures& figures) {
  Evaluation evaluation = no_figures();
  if (figures.loss) evaluation.loss = *figures.loss;
  if (figures.accuracy && *figures.accuracy >= 0 && *figures.accuracy <= 1)
    evaluation.accuracy = figures.accuracy;
  return evaluation;
}

/// Returns whether a stop signal is pending: the waiting launcher has blocked these signals.
bool signal_waits() {
  const sigset_t ends = stop_signals();
  sigset_t waiting, both;
  ::sigpending(&waiting);
  ::sigandset(&both, &ends, &waiting);
  return ::sigisemptyset(&both) == 0;
}

}  // namespace

Scout::Scout(const Fleet& fleet, ScoutOptions options)
    : fleet_(fleet), options_(std::move(options)), name_(script_name(*fleet.program)) {
  std::signal(SIGPIPE, SIG_IGN);  // the program may end during a write
  check_program_is_there(fleet);
  child_ = std::make_unique<Child>(options_.argv);
  introduce();
}

void Scout::introduce() {
  Clock::time_point next = Clock::now() + options_.patience;
  while (!introduced_) {
    wait(next);
    const bool ended = hear();
    if (ended && !introduced_)
      refuse(fmt::format("{} ended before it {} ({})", name_, options_.awaited, child_->ending()));
    if (introduced_ || Clock::now() < next) continue;
    options_.say(fmt::format("{} has not {} yet{}", name_, options_.awaited,
                             words_.empty() ? "" : "; it says: " + words_.back()));
    next += options_.patience;
  }
}

void Scout::wait(Clock::time_point until) {
  std::vector<pollfd> fds;
  child_->add_to(fds);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  const auto most = std::clamp<std::int64_t>(left.count(), 0, 1000);
  ::poll(fds.data(), fds.size(), static_cast<int>(most));
}

bool Scout::hear() {
  gv::hear(
      *child_, [this](const std::string& line) { handle_line(line); },
      [this](const std::string& line) { keep_word(line); });
  return !child_->running();
}

void Scout::handle_line(const std::string& line) {
  asked::ProgramSays says;
  try {
    says = asked::parse_program(line);
  } catch (const std::exception& e) {
    if (!introduced_)
      refuse(fmt::format("the description that {} gives of itself is wrong: {}", name_, e.what()));
    return;
  }
  if (auto* introduction = std::get_if<asked::Introduction>(&says)) {
    if (!introduced_) take_introduction(std::move(*introduction));
  } else if (const auto* figures = std::get_if<asked::Figures>(&says)) {
    if (figures->number != asked_) return;
    answer_ = *figures;
  } else if (const auto* saved = std::get_if<asked::Saved>(&says)) {
    saved_ = saved->number;
  }
}

void Scout::take_introduction(asked::Introduction says) {
  const std::size_t floats = asked::floats_of(says.parameters);
  const Payload x = child_->take_vector(floats * sizeof(float));
  if (!x || x->size() != floats * sizeof(float))
    refuse(fmt::format("{} announced {} parameters, but sent {}", name_, floats,
                       x ? fmt::format("{}", x->size() / sizeof(float)) : "none, or more"));
  const std::span<const float> values = x->floats();
  start_.assign(values.begin(), values.end());
  introduction_ = std::move(says);
  introduced_ = true;
}

/// Keeps the last lines, which hold a traceback if there is one.
void Scout::keep_word(const std::string& line) {
  words_.push_back(printable(line, longest_word_line));
  if (words_.size() > most_words) words_.pop_front();
}

void Scout::refuse(const std::string& what) {
  std::string text = about_program(
      fleet_, what,
      fmt::format("`{}` alone is a fleet of one: that is how one looks for a mistake",
                  printable(fmt::format("{}", fmt::join(fleet_.program->command, " ")), 300)));
  if (!words_.empty()) text += "\nit says:";
  for (const std::string& line : words_) text += "\n  " + line;
  throw std::runtime_error(text);
}

void Scout::tell_failure(const std::string& what) {
  if (failing_) return;
  failing_ = true;
  options_.say(what);
  for (const std::string& line : words_) options_.say("  " + line);
}

/// Answers have the question's number, so that late answers to earlier questions are skipped.
void Scout::ask(std::span<const float> x) {
  can_answer_ = introduction_.evaluates && x.size() == start_.size() && !given_up_;
  answer_.reset();
  if (!can_answer_) return;
  hand_over(x, asked::line(asked::Evaluate{++asked_}));
}

void Scout::hand_over(std::span<const float> x, const std::string& line) {
  hear();
  words_.clear();
  if (child_->running() && !child_->give_vector(x)) child_->kill(SIGKILL);
  child_->tell(line);
  asked_at_ = Clock::now();
  remind_at_ = asked_at_ + options_.patience;
}

/// Logs how long an answer takes, and kills a program that takes too long.
void Scout::watch(const std::string& task, const std::string& otherwise) {
  const Clock::time_point now = Clock::now();
  const Time limit = fleet_.faults.stuck_after;
  const double seconds = std::chrono::duration<double>(now - asked_at_).count();
  if (limit > Time{0} && now - asked_at_ >= limit) {
    given_up_ = true;
    failing_ = false;
    tell_failure(fmt::format("{} has been {} for {:.0f} s and is killed (faults.stuck_after): {}",
                             name_, task, seconds, otherwise));
    child_->kill(SIGKILL);
  } else if (now >= remind_at_) {
    options_.say(fmt::format("{} has been {} for {:.0f} s", name_, task, seconds));
    remind_at_ += options_.patience;
  }
}

bool Scout::save(std::span<const float> x, const std::string& path) {
  if (!introduction_.whole || x.size() != start_.size() || given_up_) return false;
  const std::uint64_t number = ++asked_;
  hand_over(x, asked::line(asked::Save{number, path}));
  while (saved_ != number && !given_up_ && !hear() && saved_ != number && !signal_waits()) {
    watch("saving the fleet's model", "the run leaves none of the program's own");
    wait(Clock::now() + std::chrono::milliseconds(100));
  }
  std::error_code none;
  if (saved_ == number && std::filesystem::file_size(path, none) > 0 && !none) return true;
  failing_ = false;
  tell_failure(fmt::format("{} has not written {}", name_, path));
  return false;
}

std::optional<Evaluation> Scout::answer() {
  if (!can_answer_) return no_figures();
  hear();
  if (!answer_ && child_->running()) {
    watch("evaluating the fleet's model", "no figures from now on, and training continues");
    return given_up_ ? std::optional(no_figures()) : std::nullopt;
  }
  if (!answer_) {
    tell_failure(
        fmt::format("{}, which evaluates the fleet's model, has ended ({}): no figures from now "
                    "on, and training continues",
                    name_, child_->ending()));
    return no_figures();
  }
  if (!answer_->loss && !answer_->accuracy)
    tell_failure(fmt::format("{} gave no figures of the fleet's model: training continues", name_));
  else
    failing_ = false;
  return evaluation_of(*answer_);
}

Evaluation Scout::evaluate(std::span<const float> x) {
  ask(x);
  std::optional<Evaluation> found;
  while (!(found = answer())) wait(Clock::now() + std::chrono::milliseconds(100));
  return *found;
}

}  // namespace gv
