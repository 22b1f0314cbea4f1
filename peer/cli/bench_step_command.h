#pragma once

#include <CLI/CLI.hpp>

namespace gv::cli {

/// `bench step`.
void add_bench_step(CLI::App& bench);

}  // namespace gv::cli
