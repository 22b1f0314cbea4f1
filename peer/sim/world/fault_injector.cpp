#include "peer/sim/world/fault_injector.h"

#include <cmath>

#include <fmt/format.h>

#include "graph/topology/splitmix.h"

namespace gv {

std::vector<std::string_view> names_of(FaultClasses classes) {
  std::vector<std::string_view> names;
  for (std::size_t k = 0; k < fault_names.size(); ++k)
    if ((classes >> k & 1) != 0) names.push_back(fault_names[k]);
  return names;
}

FaultInjector::FaultInjector(
    std::uint64_t seed, Time until, Trace trace, bool fair, FaultClasses classes)
    : seed_(seed), rng_(Rng(seed).derive("faults")), until_(until), trace_(std::move(trace)) {
  if (!fair) return;
  // Each class is on in 6 of 10 seeds, at 1 to 100 times its minimum rate.
  constexpr std::array<double, fault_names.size() - 2> least{20, 1e-4, 1e-3, 1e-3, 4,   2, 2, 0.3,
                                                             4,  4,    1,    0.5,  0.2, 1, 1};
  for (std::size_t k = 0; k < least.size(); ++k) {
    const bool on = rng_.uniform() < 0.6;
    rates_[k] = on ? least[k] * factor(1, 100) : 0;
  }
  // Less of a liar's behaviour can be judged, so most fleets have no liar.
  constexpr std::uint64_t one_in = 5;
  constexpr double soon = 20;
  if (Rng(seed).derive("lies").below(one_in) == 0)
    rates_[static_cast<std::size_t>(Fault::lie)] = soon;
  constexpr FaultClasses accidents = FaultClasses{1} << static_cast<std::size_t>(Fault::accident);
  constexpr std::uint64_t one_of = 3;
  const bool drawn = Rng(seed).derive("accidents").below(one_of) == 0;
  const bool only_accidents = classes == accidents || (drawn && (classes & accidents) != 0);
  if (only_accidents) classes = accidents;
  rates_[static_cast<std::size_t>(Fault::accident)] = only_accidents ? 1 : 0;
  for (std::size_t k = 0; k < rates_.size(); ++k)
    if ((classes >> k & 1) == 0) rates_[k] = 0;
}

bool FaultInjector::strikes(Fault fault, Time now) {
  const double p = rate(fault);
  if (now >= until_ || p == 0 || rng_.uniform() >= p) return false;
  count(fault);
  return true;
}

double FaultInjector::factor(double least, double most) {
  return least * std::pow(most / least, rng_.uniform());
}

Time FaultInjector::time(Time least, Time most) {
  return least + Time{static_cast<std::int64_t>(
                     rng_.below(static_cast<std::uint64_t>((most - least).count()) + 1))};
}

void FaultInjector::note(Time now, const char* what, PeerId a, PeerId b, std::uint64_t number) {
  for (const std::uint64_t value : {static_cast<std::uint64_t>(now.count()),
                                    static_cast<std::uint64_t>(static_cast<unsigned char>(*what)),
                                    static_cast<std::uint64_t>(a) << 32 | b, number})
    hash_ = SplitMix(hash_ ^ value).bits();
  if (trace_) tell(now, fmt::format("peer {} {} peer {}, number {}", a, what, b, number));
}

void FaultInjector::tell(Time now, const std::string& text) const {
  if (trace_)
    trace_(fmt::format("{:10.4f} ms  {}", std::chrono::duration<double, std::milli>(now).count(),
                       text));
}

}  // namespace gv
