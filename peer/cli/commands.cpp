#include "peer/cli/command.h"

namespace gv::cli {

// Each row is in the file of its name: run_command.cpp and so on.
Command tour_command();
Command run_command();
Command simulate_command();
Command sweep_command();
Command plan_command();
Command data_command();
Command evaluate_command();
Command completion_command();
Command explain_command();
Command reference_command();
Command init_command();
Command predict_command();
Command peer_command(const PeerParts& parts);
Command keygen_command();
Command bundle_command();
Command deploy_command();
Command collect_command();
Command agent_command();
Command lobby_command();
Command join_command();
Command lobby_link_command();
Command top_command();
Command stop_command();
Command checkpoint_command();
Command export_command();
Command trace_command();
Command algorithms_command();
Command audit_command();
Command compare_command();
Command doctor_command();
Command report_command();
Command graph_report_command();
Command graph_predict_command();
Command graph_list_command();
Command graph_export_command();
Command graph_best_command();
Command graph_schedule_command();
Command profile_command();
Command bench_exchange_command();
Command bench_step_command();
Command bench_device_command();
Command bench_agent_command();
Command bench_links_command();
Command bench_speeds_command();

namespace {

Command group(std::string name, std::string summary, std::vector<Command> rows) {
  return {std::move(name), std::move(summary), "", {}, std::move(rows), false};
}

}  // namespace

std::vector<Command> commands(const PeerParts& parts) {
  return {tour_command(),
          run_command(),
          simulate_command(),
          sweep_command(),
          plan_command(),
          profile_command(),
          init_command(),
          data_command(),
          explain_command(),
          evaluate_command(),
          predict_command(),
          compare_command(),
          report_command(),
          peer_command(parts),
          keygen_command(),
          bundle_command(),
          deploy_command(),
          collect_command(),
          agent_command(),
          lobby_command(),
          join_command(),
          lobby_link_command(),
          top_command(),
          stop_command(),
          checkpoint_command(),
          export_command(),
          trace_command(),
          group("graph", "Topologies, their spectra and their predictions",
                {graph_report_command(), graph_predict_command(), graph_list_command(),
                 graph_export_command(), graph_best_command(), graph_schedule_command()}),
          algorithms_command(),
          audit_command(),
          group("bench", "Measure this machine",
                {bench_exchange_command(), bench_step_command(), bench_device_command(),
                 bench_agent_command(), bench_links_command(), bench_speeds_command()}),
          completion_command(),
          reference_command(),
          doctor_command()};
}

}  // namespace gv::cli
