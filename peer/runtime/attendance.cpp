#include "peer/runtime/attendance.h"

namespace gv {

void Attendance::heard(LinkEvent event, PeerId neighbor) {
  switch (event) {
    case LinkEvent::away:
    case LinkEvent::died:
      missing_.insert(neighbor);
      break;
    case LinkEvent::back:
    case LinkEvent::replaced:
      missing_.erase(neighbor);
      break;
    default:
      return;
  }
  somebody_missed_ = true;
  somebody_missing_ = !missing_.empty();
}

bool Attendance::take_missed() {
  const bool missed = somebody_missed_.exchange(false);
  return missed || somebody_missing_;
}

}  // namespace gv
