#include "peer/launch/interrupt_watch.h"

#include <cstdlib>

namespace gv {

InterruptWatch::InterruptWatch()
    : watch_(signals_.fd(), [this](WatchThread&) {
        const StopSignals::Wish wish = signals_.take();
        code_ = signals_.code();
        if (wish == StopSignals::Wish::stop_at_once) std::_Exit(signals_.code());
        return true;
      }) {}

}  // namespace gv
