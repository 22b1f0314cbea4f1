#include "peer/sim/trace_words.h"

namespace gv {

const char* sends(Kind kind) {
  switch (kind) {
    case Kind::contribution:
      return "sends a half to";
    case Kind::goodbye:
      return "says goodbye to";
    case Kind::fetch:
      return "asks for the model of";
    case Kind::beyond:
      return "says beyond to";
    default:
      return "gives its model to";
  }
}

const char* hears(Kind kind) {
  switch (kind) {
    case Kind::contribution:
      return "hears the half of";
    case Kind::goodbye:
      return "hears the goodbye of";
    case Kind::fetch:
      return "hears the question of";
    case Kind::beyond:
      return "hears beyond of";
    default:
      return "hears the model of";
  }
}

const char* text(LinkEvent event) {
  switch (event) {
    case LinkEvent::lost:
      return "loses its link to";
    case LinkEvent::silent:
      return "hears nothing of";
    case LinkEvent::refused:
      return "refuses a frame of";
    case LinkEvent::away:
      return "is without";
    case LinkEvent::died:
      return "has outlived";
    case LinkEvent::back:
      return "has back";
    case LinkEvent::replaced:
      return "meets the successor of";
    case LinkEvent::sent_again:
      return "sends again to";
    case LinkEvent::repetition:
      return "hears again of";
  }
  return "";
}

}  // namespace gv
