#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace gv::cli {

/// "grapevine 0.1.0 (g++ 12.2.0, Release)"
std::string version_text();

/// CLI11's message, with the nearest known command for a misspelt one.
std::string failure_message(const CLI::App* app, const CLI::Error& error);

}  // namespace gv::cli
