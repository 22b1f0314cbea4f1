#pragma once

#include <cstdio>
#include <cstdlib>

/// Checks for bugs in this program: always on, aborts with place, condition and an explanation.
#define GV_CHECK(condition, what)                                                            \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", __FILE__, __LINE__, #condition, \
                   what);                                                                    \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)

/// Checks that two counts are equal; prints both if not.
#define GV_CHECK_EQUAL(a, b, what)                                                          \
  do {                                                                                      \
    const auto gv_a = static_cast<unsigned long long>(a);                                   \
    const auto gv_b = static_cast<unsigned long long>(b);                                   \
    if (gv_a != gv_b) {                                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s == %s: %llu and %llu (%s)\n", __FILE__, \
                   __LINE__, #a, #b, gv_a, gv_b, what);                                     \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)
