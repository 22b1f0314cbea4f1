#pragma once

#include <cstdio>
#include <cstdlib>

/// Our own mistakes: always on, aborts with place, condition and a word on what it means.
#define GV_CHECK(condition, what)                                                          \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(                                                                        \
          stderr, "%s:%d: check failed: %s (%s)\n", __FILE__, __LINE__, #condition, what); \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)
