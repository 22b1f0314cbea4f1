#pragma once

#include <string>
#include <string_view>

#include "peer/show/live/observed_run.h"

namespace gv {

enum class MetricsFormat : std::uint8_t {
  prometheus,   ///< text format 0.0.4
  openmetrics,  ///< 1.0.0
};

/// Chooses OpenMetrics if a scraper's Accept header names it, otherwise Prometheus.
MetricsFormat metrics_format(std::string_view accept);
std::string_view content_type(MetricsFormat format);

/// The run as gauges and counters: grapevine_round, _loss, _accuracy_ratio, _consensus_distance,
/// _sent_bytes_total{peer}, _state_seconds_total{peer,state}, _peer_up{peer} and others; waits for
/// neighbours in fleets of up to 64 peers. Unknown values are left out.
/// https://prometheus.io/docs/instrumenting/exposition_formats/ and OpenMetrics 1.0.
std::string metrics_text(const RunView& view, MetricsFormat format);

}  // namespace gv
