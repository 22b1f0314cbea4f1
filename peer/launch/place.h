#pragma once

#include <memory>
#include <string>
#include <vector>

#include <poll.h>

#include "peer/launch/process.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// The places where the peers of a run are started, and how they find each other.
class Places {
 public:
  virtual ~Places() = default;
  /// Starts peer `id`, which finds its folder there. `past`: what it goes on from, as options of
  /// the program. Throws std::runtime_error.
  virtual std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& past) = 0;
  /// Returns where `other`, which listens at `port`, is to be found by `by`.
  virtual PeerAddress road(PeerId by, PeerId other, std::uint16_t port) const = 0;
  /// Adds what is readable when there is something to do beside what the processes have.
  virtual void add_to(std::vector<pollfd>& fds) const = 0;
  virtual void work() = 0;                            ///< does it; about ten times a second
  virtual std::vector<std::string> take_notes() = 0;  ///< what a person should know
};

/// All of them on this machine, as our children.
class ThisMachine : public Places {
 public:
  /// `more`: further options of each peer.
  ThisMachine(std::string program,
              std::string fleet,
              std::string folder,
              std::vector<std::string> sets,
              std::vector<std::string> more = {})
      : program_(std::move(program)),
        fleet_(std::move(fleet)),
        folder_(std::move(folder)),
        sets_(std::move(sets)),
        more_(std::move(more)) {}

  std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& past) override;
  PeerAddress road(PeerId by, PeerId other, std::uint16_t port) const override;
  void add_to(std::vector<pollfd>&) const override {}
  void work() override {}
  std::vector<std::string> take_notes() override { return {}; }

 private:
  std::string program_, fleet_, folder_;
  std::vector<std::string> sets_, more_;
};

}  // namespace gv
