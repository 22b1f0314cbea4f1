#pragma once

#include <functional>
#include <memory>

#include "gossip/link/link_settings.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/lend/sharing.h"

namespace gv {

/// The parts that a test puts instead of some of the simulated link layers, to show that the
/// swarm notices. Empty: the parts that ship.
struct LinkParts {
  std::function<void(LinkSettings&)> settings{};  ///< changes those of a process; its rules too
  std::function<std::unique_ptr<wire::FrameReader>(BufferPool&)> reader{};
  SharingParts sharing{};
};

}  // namespace gv
