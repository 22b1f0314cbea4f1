#include "tests/explore/explorer.h"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

namespace gv::explore {
namespace {

class Search {
 public:
  Search(const Shape& shape, const Rules& rules) : shape_(shape), rules_(rules) {}

  Findings result() {
    begin();
    seen_.insert(fleet_->digest());
    stack_.push_back({fleet_->actions(), 0});
    while (!stack_.empty() && findings_.violation.empty()) step();
    findings_.states = seen_.size();
    return std::move(findings_);
  }

 private:
  struct Frame {
    std::vector<Action> actions;
    std::size_t next = 0;
  };

  void begin() { fleet_ = std::make_unique<SmallFleet>(shape_, rules_); }

  void step() {
    Frame& frame = stack_.back();
    if (frame.next == frame.actions.size()) {
      stack_.pop_back();
      astray_ = true;
      return;
    }
    if (std::exchange(astray_, false)) go_back();
    ++findings_.steps;
    fleet_->act(frame.actions[frame.next++]);
    if (!fleet_->violation().empty()) return report(fleet_->violation());
    if (!seen_.insert(fleet_->digest()).second) {
      astray_ = true;
      return;
    }
    enter();
  }

  /// Replays the path to the top of the stack.
  void go_back() {
    begin();
    for (std::size_t k = 0; k + 1 < stack_.size(); ++k)
      fleet_->act(stack_[k].actions[stack_[k].next - 1]);
  }

  void enter() {
    std::vector<Action> actions = fleet_->actions();
    const bool goes_on =
        std::ranges::any_of(actions, [](const Action& a) { return !a.fault() || a.mends(); });
    if (!goes_on) end();
    stack_.push_back({std::move(actions), 0});
  }

  /// Judges a state in which nothing can happen any more except that time passes.
  void end() {
    ++findings_.ends;
    astray_ = true;
    constexpr int longest = 1000;
    for (int k = 0; k < longest; ++k) {
      const std::vector<Action> actions = fleet_->actions();
      if (!actions.empty() && !actions.front().fault()) {
        fleet_->act(actions.front());
      } else if (!fleet_->let_time_pass()) {
        break;
      }
      if (!fleet_->violation().empty()) return report(fleet_->violation());
    }
    if (const std::string wrong = fleet_->judge_end(); !wrong.empty()) report(wrong);
  }

  void report(const std::string& violation) {
    findings_.violation = violation;
    begin();
    for (const Frame& frame : stack_) {
      if (frame.next == 0) break;
      const Action& action = frame.actions[frame.next - 1];
      fleet_->act(action);
      findings_.path.push_back(to_text(action) + fleet_->to_text());
    }
  }

  const Shape& shape_;
  const Rules& rules_;
  std::unique_ptr<SmallFleet> fleet_;
  std::vector<Frame> stack_;
  std::unordered_set<std::uint64_t> seen_;
  bool astray_ = false;  ///< whether the fleet's state differs from the stack's
  Findings findings_;
};

}  // namespace

Findings explore(const Shape& shape, const Rules& rules) {
  return Search(shape, rules).result();
}

}  // namespace gv::explore
