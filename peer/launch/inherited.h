#pragma once

namespace gv {

/// Sets anew what a process inherits from its parent and never asks for: closed standard
/// descriptors become /dev/null, no signal stays blocked, SIGCHLD and SIGPIPE have their usual
/// effect, and files are not writable for everybody. SIGHUP stays ignored where it is (nohup). To
/// be called before there are threads; between fork and exec as well.
void reset_inherited();

}  // namespace gv
