#include "peer/launch/hear.h"

#include <vector>

#include <poll.h>

namespace gv {

void keep_last_words(std::string& words, const std::string& line) {
  const bool explains = line.empty() || line.starts_with("help:") || line.starts_with(" ");
  if (!explains || words.empty()) words = line;
}

bool hear(Process& process, const OnLine& on_output, const OnLine& on_error) {
  const bool ended = process.reap();
  for (const std::string& line : process.take_errors()) on_error(line);
  for (const std::string& line : process.take_output()) on_output(line);
  return ended;
}

void hear_out(Process& process, const OnLine& on_output, const OnLine& on_error) {
  while (process.running()) {
    std::vector<pollfd> fds;
    process.add_to(fds);
    ::poll(fds.data(), fds.size(), -1);
    hear(process, on_output, on_error);
  }
}

}  // namespace gv
