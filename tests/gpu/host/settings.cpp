#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/gpu/host/host_cuda.h"

namespace gv::host_cuda {
namespace {

std::string word(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Order order(const char* name) {
  const std::string text = word(name);
  if (text.empty() || text == "up") return Order::up;
  if (text == "down") return Order::down;
  if (text == "random") return Order::random;
  problem(std::string(name) + " is up, down or random");
}

When when() {
  const std::string text = word("GV_HOST_ORDER");
  if (text.empty() || text == "eager") return When::eager;
  if (text == "late") return When::late;
  if (text == "ahead") return When::ahead;
  if (text == "random") return When::random;
  problem("GV_HOST_ORDER is eager, late, ahead or random");
}

unsigned number(const char* name, unsigned usual) {
  const std::string text = word(name);
  return text.empty() ? usual : static_cast<unsigned>(std::stoul(text));
}

Settings& own_settings() {
  static Settings once{.threads = order("GV_HOST_THREADS"),
                       .blocks = order("GV_HOST_BLOCKS"),
                       .when = when(),
                       .guard = word("GV_HOST_GUARD") == "1",
                       .watches = word("GV_HOST_WATCH") != "0",
                       .seed = number("GV_HOST_SEED", 1),
                       .capability = static_cast<int>(number("GV_HOST_CAPABILITY", 90)),
                       .devices = static_cast<int>(number("GV_HOST_DEVICES", 1))};
  return once;
}

}  // namespace

const Settings& settings() {
  return own_settings();
}

When take_order(When order) {
  return std::exchange(own_settings().when, order);
}

void problem(const std::string& what) {
  std::fprintf(stderr, "host CUDA: %s\n", what.c_str());
  std::abort();
}

Counts& counts() {
  static Counts all;
  return all;
}

Refusals& refusals() {
  static Refusals all;
  return all;
}

}  // namespace gv::host_cuda
