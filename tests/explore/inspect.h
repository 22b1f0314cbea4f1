#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "gossip/peer.h"

namespace gv {

/// Reads the part of a peer's state that decides what it does next; counters for reports and the
/// values of vectors are left out.
struct Inspect {
  /// Mixes numbers into a hash.
  class Hash {
   public:
    void add(std::uint64_t value) {
      hash_ = (std::rotl(hash_, 23) ^ value) * 0x9E3779B97F4A7C15U;
      hash_ ^= hash_ >> 29;
    }
    void add(const std::optional<Round>& value) { add(value ? *value + 1 : 0); }
    std::uint64_t get() const { return hash_; }

   private:
    std::uint64_t hash_ = 0x51ED270B;
  };

  static bool rests(const Peer& peer) { return peer.pace_.when_woken_ != nullptr; }
  static bool here(const Peer& peer, std::size_t k) { return peer.roster_.here(k); }
  static bool dead(const Peer& peer, std::size_t k) { return peer.roster_.dead(k); }

  static bool company_waits(const Peer& peer) { return peer.exchange_.company_waits(); }
  static Round open_round(const Peer& peer, std::size_t k) {
    return *peer.exchange_.edges_[k].join.ours();
  }

  static std::string to_text(const Peer& peer, std::size_t k) {
    const MergeJoin& join = peer.exchange_.edges_[k].join;
    std::string text = here(peer, k) ? "" : "away ";
    if (join.ours())
      text += (join.flows() ? "flow " : "ours ") + std::to_string(*join.ours()) + " ";
    if (join.theirs()) text += "theirs " + std::to_string(*join.theirs()) + " ";
    return text + "next " + std::to_string(join.next());
  }

  static void add(const Peer& peer, Hash& hash) {
    hash.add(peer.round);
    add(peer.pace_, hash);
    for (std::size_t k = 0; k < peer.neighbors.size(); ++k) {
      add(peer.exchange_.edges_[k], hash);
      add(peer.roster_, k, hash);
      hash.add(peer.parting_.left_[k] ? 1 : 0);
    }
    hash.add(peer.parting_.begun_ ? 1 : 0);
    hash.add(peer.exchange_.expected_company_ ? 1 : 0);
    add(peer.post_.mailbox_, hash);
  }

 private:
  static void add(const Pace& pace, Hash& hash) {
    hash.add(pace.clock_);
    for (const Round heard : pace.heard_) hash.add(heard);
    hash.add((pace.in_company_ ? 1U : 0U) + (pace.begun_ ? 2U : 0U) + (pace.met_ ? 4U : 0U) +
             (pace.when_woken_ ? 8U : 0U) + (pace.hastened_ ? 16U : 0U));
    hash.add(std::min<std::size_t>(pace.lengths_.size(), 3));
  }
  static void add(const Exchange::Edge& edge, Hash& hash) {
    hash.add(static_cast<std::uint64_t>(edge.turn));
    hash.add((edge.hears ? 1U : 0U) + (edge.tells ? 2U : 0U) + (edge.sharing ? 4U : 0U) +
             (edge.overdue ? 8U : 0U) + (edge.join.flows() ? 16U : 0U));
    hash.add(edge.join.ours());
    hash.add(edge.join.theirs());
    hash.add(edge.join.heard());
    hash.add(edge.join.next_);
    hash.add(edge.join.theirs_next_);
    hash.add(edge.join.after_sent_);
    hash.add(edge.settled);
    hash.add(edge.came);
    hash.add(edge.last);
  }
  static void add(const Roster& roster, std::size_t k, Hash& hash) {
    const Roster::Entry& entry = roster.entries_[k];
    hash.add(static_cast<std::uint64_t>(entry.presence));
    hash.add((entry.given_up ? 1U : 0U) + (entry.left_early ? 2U : 0U) + (entry.ended ? 4U : 0U));
    hash.add(entry.life);
  }
  static void add(const Mailbox& mailbox, Hash& hash) {
    const auto add_key = [&](const Mailbox::Key& key) {
      hash.add(key.from * 256U + static_cast<std::uint64_t>(key.kind));
      hash.add(key.number);
      hash.add(key.part);
    };
    for (const auto& [key, message] : mailbox.ready_) add_key(key);
    hash.add(1);
    for (const auto& [key, waiting] : mailbox.waiters_) add_key(key);
    hash.add(2);
    for (const auto& [from, number] : mailbox.closed_) {
      hash.add(from);
      hash.add(number);
    }
  }
};

}  // namespace gv
