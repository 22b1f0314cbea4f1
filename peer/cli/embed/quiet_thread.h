#pragma once

#include <functional>
#include <thread>

namespace gv::embed {

/// A thread that takes none of the process's signals: they are for the program's own threads.
/// `name`: 15 bytes at most.
std::thread quiet_thread(const char* name, std::function<void()> work);

}  // namespace gv::embed
