#include "peer/study/compare/student_t.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gv {
namespace {

constexpr double tiny = 1e-300;

/// I_x(a, b) where x < (a + 1) / (a + b + 2): Lentz's method on the continued fraction.
double beta_fraction(double x, double a, double b) {
  double c = 1;
  double d = 1 / std::max(std::abs(1 - (a + b) * x / (a + 1)), tiny);
  double h = d;
  for (int m = 1; m < 100'000; ++m) {
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + term * d;
      c = 1 + term / c;
      if (std::abs(d) < tiny) d = tiny;
      if (std::abs(c) < tiny) c = tiny;
      d = 1 / d;
      h *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-16) break;
  }
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) -
                                std::lgamma(a) - std::lgamma(b));
  return front * h / a;
}

/// P(T >= t) for t >= 0, with full relative accuracy far out: I_x(n/2, 1/2) / 2, x = n / (n + t^2).
double upper_tail(double t, double n) {
  if (t == 0) return 0.5;
  const double x = n / (n + t * t);
  const double y = t * t / (n + t * t);
  const double a = n / 2;
  const double b = 0.5;
  if (x < (a + 1) / (a + b + 2)) return beta_fraction(x, a, b) / 2;
  return (1 - beta_fraction(y, b, a)) / 2;
}

double density(double t, double n) {
  const double front = std::lgamma((n + 1) / 2) - std::lgamma(n / 2);
  return std::exp(front - (n + 1) / 2 * std::log1p(t * t / n)) / std::sqrt(n * std::acos(-1.0));
}

/// t >= 0 with P(T >= t) = q, q <= 1/2: Newton's method on log q, which is nearly straight in log t
/// far out, held between two ends that enclose the root.
double upper_quantile(double q, double n) {
  double low = 0;
  double high = 1;
  while (upper_tail(high, n) > q) {
    low = high;
    high *= 2;
  }
  double t = (low + high) / 2;
  for (int step = 0; step < 200; ++step) {
    const double tail = upper_tail(t, n);
    (tail > q ? low : high) = t;
    double next = t + (std::log(tail) - std::log(q)) * tail / density(t, n);
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::abs(next - t) <= 1e-15 * next) return next;
    t = next;
  }
  return t;
}

}  // namespace

double student_t_below(double t, double freedom) {
  return t < 0 ? upper_tail(-t, freedom) : 1 - upper_tail(t, freedom);
}

double student_t_two_sided(double t, double freedom) {
  if (std::isinf(t)) return 0;
  return 2 * upper_tail(std::abs(t), freedom);
}

double student_t_quantile(double p, double freedom) {
  if (p == 0.5) return 0;
  return p > 0.5 ? upper_quantile(1 - p, freedom) : -upper_quantile(p, freedom);
}

}  // namespace gv
