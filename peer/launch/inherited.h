#pragma once

namespace gv {

/// Resets what a process inherits from its parent: closed standard descriptors become /dev/null, no
/// signal stays blocked, SIGCHLD and SIGPIPE have their default action, and new files are not
/// world-writable. SIGHUP stays ignored if it was (nohup). Call it before any thread starts, and
/// between fork and exec.
void reset_inherited();

}  // namespace gv
