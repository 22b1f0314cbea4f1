#include "graph/predict/scalar_round.h"

namespace gv {

ScalarRound ScalarRound::then(const ScalarRound& next) const {
  const double cross = 2 * (next.ab * b).real();
  return {.a = next.a * a,
          .b = next.a * b + next.b,
          .a2 = next.a2 * a2,
          .b2 = next.a2 * b2 + cross + next.b2,
          .c2 = next.a2 * c2 + next.c2,
          .ab = next.a2 * ab + next.ab * a};
}

ScalarRound ScalarRound::repeated(std::uint64_t times) const {
  ScalarRound all;
  for (ScalarRound power = *this; times > 0; times /= 2, power = power.then(power))
    if (times % 2 == 1) all = all.then(power);
  return all;
}

bool has_scalar_rounds(const QuadraticFleet& f) {
  const bool order = f.order == "lian" || f.order == "atc" || f.order == "cta";
  return order && f.momentum == 0 && f.local_steps == 1 && f.staleness == 0;
}

ScalarRound scalar_round(const QuadraticFleet& f, const Mode& mode, std::size_t t, double h) {
  const std::complex<double> lambda = mode.values[t];
  const double v = mode.variance;
  const double step = f.rate * h;
  const double noise = f.rate * f.rate;
  ScalarRound r{.a = lambda - step, .b = step, .c2 = noise};
  double slope = 1;  // derivative of a by lambda
  if (f.order != "lian") {
    slope = 1 - step;
    r.a = lambda * slope;
  }
  r.a2 = std::norm(r.a) + slope * slope * v;
  r.b2 = step * step;
  r.ab = r.a * step;
  if (f.order == "atc") {  // the step is averaged too: b and c have lambda in them
    r.b = lambda * step;
    r.b2 = mode.square(t) * step * step;
    r.c2 = mode.square(t) * noise;
    r.ab = mode.square(t) * slope * step;
  }
  return r;
}

ModePower scalar_power_after(const QuadraticFleet& f,
                             const Mode& mode,
                             double h,
                             std::uint64_t rounds) {
  const std::size_t period = mode.values.size();
  ScalarRound whole;
  ScalarRound rest;
  for (std::size_t t = 0; t < period; ++t) {
    const ScalarRound round = scalar_round(f, mode, t, h);
    whole = whole.then(round);
    if (t < rounds % period) rest = rest.then(round);
  }
  const ScalarRound all = whole.repeated(rounds / period).then(rest);
  return {all.c2, all.b2};
}

std::optional<ModePower> scalar_power_settled(const QuadraticFleet& f, const Mode& mode, double h) {
  const std::size_t period = mode.values.size();
  ScalarRound whole;
  for (std::size_t t = 0; t < period; ++t) whole = whole.then(scalar_round(f, mode, t, h));
  if (!(whole.a2 < 1)) return std::nullopt;
  // After a period: z = a z + b, so E z = b / (1 - a). Then round by round through the next one.
  std::complex<double> mean = whole.b / (1.0 - whole.a);
  ModePower at{whole.c2 / (1 - whole.a2),
               (whole.b2 + 2 * (whole.ab * mean).real()) / (1 - whole.a2)};
  ModePower sum;
  for (std::size_t t = 0; t < period; ++t) {
    const ScalarRound r = scalar_round(f, mode, t, h);
    at = {r.a2 * at.noise + r.c2, r.a2 * at.spread + 2 * (r.ab * mean).real() + r.b2};
    mean = r.a * mean + r.b;
    sum.noise += at.noise / static_cast<double>(period);
    sum.spread += at.spread / static_cast<double>(period);
  }
  return sum;
}

}  // namespace gv
