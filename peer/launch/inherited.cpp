#include "peer/launch/inherited.h"

#include <csignal>
#include <initializer_list>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gv {
namespace {

/// Otherwise the next file that is opened would be taken for the standard output. open() returns
/// the lowest descriptor that is free, so the order matters.
void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
}

}  // namespace

void reset_inherited() {
  open_standard_descriptors();
  // With SIGCHLD ignored, the kernel forgets how a child ended.
  for (const int signal : {SIGCHLD, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(::umask(S_IWOTH) | S_IWOTH);
}

}  // namespace gv
