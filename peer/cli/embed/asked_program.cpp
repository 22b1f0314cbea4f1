#include "peer/cli/embed/asked_program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/program_peer.h"
#include "peer/launch/launcher_line.h"
#include "peer/launch/program/program_words.h"

namespace gv::embed {
namespace {

/// Returns the strides of the tensor's memory layout, in elements.
std::vector<std::int64_t> strides_of(const Parameter& parameter,
                                     const std::vector<std::uint32_t>& order) {
  std::vector<std::int64_t> strides(parameter.shape.size(), 1);
  std::int64_t dense = 1;
  const auto take = [&](std::size_t d) {
    strides[d] = dense;
    dense *= std::max<std::int64_t>(parameter.shape[d], 1);
  };
  if (order.empty())
    for (std::size_t d = strides.size(); d-- > 0;) take(d);
  else
    std::for_each(order.rbegin(), order.rend(), take);
  return strides;
}

std::optional<double> number_or_nothing(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

AskedProgram::AskedProgram(OpenWords words)
    : Program(std::move(words)),
      line_(launchers_descriptors),
      watch_(fleet_.outline->algorithm->program.turns) {
  if (!words_.control) throw Fault(GV_E_USE, "gv_open: only a launcher may set `task`");
  keep_from_children(launchers_descriptors);
}

std::uint16_t AskedProgram::attach(std::span<const gv_tensor> tensors, const AttachWords& words) {
  tensors_ = read_tensors(tensors);
  attached_ = words;
  start_ = values_of(tensors_);
  state_ = {.attached = true,
            .parameters = start_.size(),
            .start = digest_of(tensors_),
            .model = gv::digest_of(tensors_.model)};
  if (words_.task == ProgramTask::ask) introduce();
  return 0;
}

void AskedProgram::introduce() {
  asked::Introduction says{.evaluates = attached_.evaluates,
                           .optimizer = attached_.optimizer,
                           .versions = attached_.versions,
                           .whole = attached_.whole};
  const std::uint64_t batch = fleet_.fleet.peers[fleet_.id].batch;
  says.batches = (attached_.samples + batch - 1) / batch;
  if (watch_.seconds_per_step() > 0) says.seconds_per_step = watch_.seconds_per_step();
  for (std::size_t k = 0; k < tensors_.model.parameters.size(); ++k) {
    const Parameter& parameter = tensors_.model.parameters[k];
    says.parameters.push_back({.name = parameter.name,
                               .shape = parameter.shape,
                               .strides = strides_of(parameter, tensors_.model.orders[k])});
  }
  send_vector(launchers_descriptors.vectors, start_);
  line_.say(asked::line(says));
  start_ = {};
}

void AskedProgram::point(int what, std::span<void* const> data) {
  Segments pieces = segments_at(data, tensors_);
  if (what == GV_POINT_PARAMETERS) tensors_.x = std::move(pieces);
}

void AskedProgram::say(const SayWords& words) {
  if (!words.text.empty()) log(printable(words.text, words.text.size()));
}

std::vector<int> AskedProgram::pause() {
  const LauncherLine::Descriptors& own = launchers_descriptors;
  return {own.ear, own.mouth, own.vectors};
}

void AskedProgram::end_turn() {
  at_hand_ = Turn::none;
}

void AskedProgram::end_turn_at_hand(const gv_told& told) {
  check_told(told);
  if (at_hand_ == Turn::over) return;
  const Told said = told_of(told);
  if (at_hand_ == Turn::evaluate) {
    asked::Figures figures{.number = question_};
    if (said.evaluation) {
      figures.loss = number_or_nothing(said.evaluation->loss);
      figures.accuracy = said.evaluation->accuracy;
    }
    line_.say(asked::line(figures));
  }
  if (at_hand_ == Turn::save) {
    state_.save_to.clear();
    line_.say(asked::line(asked::Saved{question_}));
  }
  watch_.ended(std::exchange(at_hand_, Turn::none));
}

Turn AskedProgram::turn(const gv_told* done, int timeout_ms) {
  if (!state_.attached) throw Fault(GV_E_USE, "gv_turn comes after gv_attach");
  if (done != nullptr) end_turn_at_hand(*done);
  if (at_hand_ != Turn::none) return at_hand_;
  at_hand_ = words_.task == ProgramTask::measure ? next_to_measure() : next_question(timeout_ms);
  return at_hand_;
}

Turn AskedProgram::next_to_measure() {
  const Turn next = watch_.next();
  if (next == Turn::over) introduce();
  return next;
}

/// Returns false if nothing has come in that time. The end of the launcher is read as its `stop`.
bool AskedProgram::hear(int timeout_ms) {
  pollfd ear{launchers_descriptors.ear, POLLIN, 0};
  if (::poll(&ear, 1, timeout_ms) <= 0) return false;
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(launchers_descriptors.ear, buffer.data(), buffer.size());
  if (count > 0) heard_.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0) heard_ += asked::line(asked::Stop{}) + "\n";
  return count >= 0;
}

/// Waits for the next question. Ends when the launcher does.
Turn AskedProgram::next_question(int timeout_ms) {
  for (;;) {
    const std::size_t end = heard_.find('\n');
    if (end == std::string::npos) {
      if (!hear(timeout_ms)) return Turn::none;
      continue;
    }
    const asked::LauncherSays says = asked::parse_launcher(heard_.substr(0, end));
    heard_.erase(0, end + 1);
    if (std::holds_alternative<asked::Stop>(says)) return Turn::over;
    const auto* const asks = std::get_if<asked::Evaluate>(&says);
    const auto* const saves = std::get_if<asked::Save>(&says);
    if (asks == nullptr && saves == nullptr) continue;
    const Payload x =
        receive_vector(launchers_descriptors.vectors, state_.parameters * sizeof(float));
    if (!x || x->floats().size() != state_.parameters)
      throw Fault(GV_E_DISAGREES, "the launcher asks about a model of another size");
    load_as_it_lies(x->floats(), tensors_);
    question_ = asks != nullptr ? asks->number : saves->number;
    if (asks != nullptr) return Turn::evaluate;
    state_.save_to = saves->path;
    return Turn::save;
  }
}

}  // namespace gv::embed
