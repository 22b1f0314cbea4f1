#pragma once

namespace gv {

/// The remedies that a fleet could use and does not use yet.
struct Remedies {
  bool local_steps = false;   ///< more of them between two exchanges
  bool codec = false;         ///< write what travels in fewer bytes, which then arrives sooner
  bool unequal_work = false;  ///< `train.batch: auto`: less for who is slow
  bool other_stages = false;  ///< `parallel.stages` that begin elsewhere
};

}  // namespace gv
