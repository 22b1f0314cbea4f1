"""What people's scripts do means in a fleet what it means elsewhere. GRAPEVINE_PROGRAM and _LIBRARY name what runs."""

import json
import os
import re
import subprocess
import sys
import unittest

import torch

from fleets import PATIENCE_S, SCRIPTS, Fleet
from grapevine._program import program_path

FLEET = """version: 1
seed: 5
peers: {peers}
program: {program}
algorithm: {algorithm}
{more}
checkpoint: {{ every: 20 rounds }}
faults: {{ deadline: 0 s, stuck_after: {stuck} }}
output: {{ dir: "{folder}" }}
"""
PEERS = 3


class HabitsTest(unittest.TestCase):
    def setUp(self):
        self.fleet = Fleet(peers=PEERS)
        self.addCleanup(self.fleet.close)

    def run_habit(self, *words, algorithm="d-psgd", more="topology: ring", code=0, resume=False, stuck="600 s",
                  **environment):
        """Runs a habit as the program of a fleet; returns what the ranks ended with, and all that was shown."""
        name = re.sub("[^a-z]", "", words[0] + "".join(words[1:])[-20:] + algorithm)
        self.path = self.fleet.folder / name
        program = json.dumps([sys.executable, "-W", "ignore", str(SCRIPTS / "habits.py"), *words])
        file = self.path.with_suffix(".yaml")
        file.write_text(FLEET.format(peers=PEERS, program=program, algorithm=algorithm, more=more,
                                     folder=self.path, stuck=stuck))
        done = subprocess.run([program_path(), "run", *(["--resume", str(self.path)] if resume else [str(file)])],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, done.stdout)
        return [json.loads(line) for line in re.findall("RESULT (.*)", done.stdout)], done.stdout

    def test_what_rank_0_loads_after_wrapping_and_broadcasts_is_everybodys(self):
        for algorithm in ("d-psgd", "all-reduce"):
            with self.subTest(algorithm):
                results, _ = self.run_habit("broadcast_after", algorithm=algorithm)
                self.assertEqual(results, [[7.0, 1.0, 0.0]] * PEERS)
                self.assertTrue((self.path / "model.pt").exists())      # of named_parameters alone

    def test_peers_work_together_before_there_is_an_optimizer(self):
        results, _ = self.run_habit("together_before")
        for result in results:
            self.assertEqual(result[:4], [1.0, 6, 6, 2.0])
        self.assertEqual(len(results), PEERS)

    def test_what_travels_from_the_start_may_be_frozen_and_trained_again(self):
        results, output = self.run_habit("unfreeze", algorithm="all-reduce")
        for body, head in results:
            self.assertAlmostEqual(body, -0.01 * 30 * 2, places=5)
            self.assertAlmostEqual(head, -0.01 * 40 * 2, places=5)
        self.assertIn("0.weight: frozen by the script from now on", output)

    def test_a_folder_that_must_be_new_is_made_by_rank_0_alone(self):
        results, _ = self.run_habit("makes", str(self.fleet.folder))
        self.assertEqual(results, [True] * PEERS)

    def test_servers_step_as_the_script_would_or_nothing_starts(self):
        servers = "train: { optimizer: { lr: 0.25, momentum: 0.5 } }"
        results, _ = self.run_habit("served", "0.25", algorithm="parameter-server", more=servers)
        for result in results:      # of gradients whose mean is 2: 2, 3 and 3.5 times the rate
            self.assertEqual(result, [-0.25 * (2 + 3 + 3.5)] * 3)
        for algorithm in ("parameter-server", "downpour"):
            with self.subTest(algorithm):
                _, output = self.run_habit("served", "0.01", algorithm=algorithm, more=servers, code=5)
                self.assertIn("the servers step, by kind: sgd, lr: 0.25, momentum: 0.5 of the fleet file", output)
                self.assertIn("help: write `train: { optimizer: { kind: sgd, lr: 0.01, momentum: 0.5 } }`", output)

    def test_clipping_is_of_the_mean_gradient(self):
        results, _ = self.run_habit("clip", algorithm="all-reduce")
        for result in results:
            self.assertAlmostEqual(result, -1.0, places=5)

    def test_a_layer_that_no_rank_uses_is_left_alone_and_one_that_some_use_is_alike(self):
        results, _ = self.run_habit("unused", algorithm="all-reduce")
        self.assertEqual(results, [results[0]] * PEERS)
        self.assertEqual(results[0][2], 1.0)
        self.assertLess(results[0][1], 0.8)

    @unittest.skipUnless(hasattr(torch.amp, "GradScaler"), "torch has no scaler for the CPU before 2.3")
    def test_a_step_that_one_rank_must_skip_is_skipped_by_all(self):
        for words in ((), ("fused",)):
            with self.subTest(words):
                results, _ = self.run_habit("scaler", *words, algorithm="all-reduce")
                self.assertEqual(results, [results[0]] * PEERS)
                self.assertAlmostEqual(results[0][0], -0.01 * 18, places=5)
                self.assertEqual(results[0][1], 1024.0)

    def test_a_batch_of_nan_is_told_and_the_model_stays_finite(self):
        for algorithm in ("d-psgd", "all-reduce"):
            with self.subTest(algorithm):
                results, output = self.run_habit("nan", algorithm=algorithm, code=4)
                self.assertEqual(results, [True] * PEERS)
                self.assertIn("the gradient of weight is not finite", output)
                self.assertTrue(torch.load(self.path / "model.pt")["weight"].isfinite().all())

    def test_batch_norms_have_statistics_without_calibrate(self):
        servers = "train: { optimizer: { kind: sgd, lr: 0.0 } }"
        for algorithm, more in (("d-psgd", "topology: ring"), ("local-sgd", ""), ("parameter-server", servers)):
            with self.subTest(algorithm):
                _, output = self.run_habit("norms", algorithm=algorithm, more=more)
                self.assertIn("the statistics of the data set of gv.Sampler", output)
                saved = torch.load(self.path / "model.pt")
                self.assertGreater(saved["1.running_mean"].abs().max().item(), 5)
                loss, = re.findall(r"loss +([\d.e-]+) mean model", output)
                self.assertLess(float(loss), 1.1)       # of values with mean 0 and variance 1

    def test_other_values_in_other_memory_are_averaged_or_told(self):
        results, output = self.run_habit("replaces")
        for _, value in results:
            self.assertAlmostEqual(value, 1.0, places=4)
        self.assertNotIn("has replaced the values", output)
        results, output = self.run_habit("replaces", algorithm="all-reduce")
        self.assertEqual(sorted(results), [[0, 0.0], [1, 3.0], [2, 0.0]])
        self.assertRegex(output, "(?s)peer 1. the script has replaced the values of weight before step 6, and all-r"
                                 "educe averages gradients alone.*help: gv.broadcast_parameters.*root_rank=1")

    def test_an_evaluation_that_hangs_costs_its_peer_alone(self):
        results, output = self.run_habit("hangs", code=3, stuck="5 s",
                                         more="topology: ring\nevaluate: { every: 3 rounds }")
        self.assertEqual(sorted(results), [0, 2])
        self.assertRegex(output, r"peer 1 lost at round \d+ \(pid \d+, exit 70\): evaluate has not ended within 5 s")

    def test_a_rate_of_0_is_a_rate_and_no_elements_are_no_obstacle(self):
        for algorithm in ("slowmo", "k-gt", "quasi-global-momentum", "decentlam"):
            with self.subTest(algorithm):
                results, _ = self.run_habit("warm_up", algorithm=algorithm)
                self.assertEqual(len(results), PEERS)
                for result in results:
                    self.assertAlmostEqual(result, 1.0, delta=0.2)      # the mean of 0, 1 and 2

    def test_a_script_that_makes_no_step_is_told_that_nothing_is_averaged(self):
        _, output = self.run_habit("by_hand")
        self.assertEqual(output.count("ends without a step of the optimizer"), PEERS, output)

    def test_an_exit_code_of_a_script_is_not_lost_and_its_last_words_are_the_error(self):
        results, output = self.run_habit("leaves", code=3)
        self.assertRegex(output, r"peer 1 lost at round 2\d \(pid \d+, exit 3\)")
        self.assertIn("loss       not evaluated", output)
        _, output = self.run_habit("unfreezes", code=1)
        self.assertRegex(output, r"peer \d lost at round \d+ \(.*Disagreement: 0.weight \[1, 3\] is trained now")

    def test_who_makes_one_step_less_is_named_and_no_step_lacks_its_gradient(self):
        timed = "\nstop: { time: 60 s }"
        for more, stop, elements in ((1, "", 3), (5, "", 3), (1, timed, 3), (5, timed, 3), (1, "", 1)):
            with self.subTest(more=more, stop=stop, elements=elements):
                _, output = self.run_habit("uneven", str(more), str(elements), algorithm="all-reduce", code=3,
                                           more="topology: ring" + stop)
                ends = {rank: (value, lost) for rank, value, lost in map(json.loads, re.findall("BEHIND (.*)", output))}
                self.assertEqual(sorted(ends), [0, 1, 2])
                for value, _ in ends.values():
                    self.assertAlmostEqual(value, -0.1, places=5)
                self.assertRegex(ends[1][1], "peer [02] has left, and all-reduce cannot continue without it")
                self.assertRegex(output, r"peer 1 lost at round \d+ \(pid \d+, exit 1")

    def test_a_script_that_ends_within_a_round_of_several_steps_is_named(self):
        rounds = "topology: ring\ntrain: { local_steps: 5 }"
        _, output = self.run_habit("uneven", "-1", algorithm="local-sgd", more=rounds)
        self.assertEqual(re.findall(r"peer (\d)\] ends after (\d) of the 5 steps", output), [("1", "4")], output)
        ends = [json.loads(line)[:2] for line in re.findall("BEHIND (.*)", output)]
        for rank, value in ends:        # rank 1 counts in the mean with its 9 steps
            self.assertAlmostEqual(value, -0.09 if rank == 1 else -0.29 / 3, places=5)

    def test_ctrl_c_reaches_finally_and_ends_all_in_order(self):
        _, output = self.run_habit("interrupted", code=130)
        self.assertEqual(output.count("REACHED finally"), PEERS, output)
        self.assertNotIn("REACHED KeyboardInterrupt", output)

    def test_what_is_added_to_the_model_later_is_never_silent(self):
        _, output = self.run_habit("adds", code=1)
        self.assertRegex(output, r"Disagreement: 1.weight \[1, 3\] is trained now")
        _, output = self.run_habit("adds", "later", algorithm="all-reduce", code=1)
        self.assertRegex(output, "an optimizer that DistributedOptimizer was not given steps 0.weight")
        _, output = self.run_habit("adds", "later")
        self.assertRegex(output, "20 steps without a turn: an optimizer that DistributedOptimizer was not given")

    def test_a_peer_that_has_shut_down_is_told_how_another_phase_begins(self):
        _, output = self.run_habit("again", code=3)
        self.assertRegex(output, "(?s)init.. after shutdown.*help: leave out both; for another phase")

    def test_calls_of_horovod_mean_what_they_mean_there(self):
        results, _ = self.run_habit("horovod", algorithm="all-reduce")
        self.assertEqual(len(results), PEERS)
        starts = {0: [0.0], 1: [1.0], 2: [2.0]}
        ranks = []
        for before, after, moved in results:
            self.assertEqual(before, after)
            rank = len(before["gradient"]) - 1
            ranks.append(rank)
            first = sum(range(rank + 1))
            self.assertEqual(before["rows"], [value for r in range(PEERS) for value in starts[r] * (r + 1)])
            self.assertEqual(before["gradient"], [3.0 * 2 * (first + i) for i in range(rank + 1)])
            self.assertEqual(before["root"], [6.0, 6.0] if rank == 1 else [0.0, 0.0])
            self.assertEqual(before["types"], [[False, True, False], [float("-inf")] * 3, [0.0] * 3])
            self.assertEqual(before["half"], "torch.bfloat16")
            self.assertEqual(before["least"], [[0, -2], [2, 0], [0, 0]])
            begin, end = sum([1, 2, 3][:rank]), sum([1, 2, 3][:rank + 1])
            self.assertEqual(before["parts"], [[10 * r + i for r in range(PEERS) for i in range(begin, end)],
                                               [rank + 1] * PEERS, [rank, 10 + rank, 20 + rank]])
            self.assertEqual(before["scattered"], [[1.0, 2.0], [3.0], [4.0]][rank])
            self.assertEqual(before["objects"], [2, [2, None]])
            self.assertEqual(before["handle"], [True, 3.0])
            self.assertEqual(before["grouped"], [1.0, 2.0])
            self.assertEqual(before["scaled"], 6.0)
            self.assertFalse(before["built"])
            self.assertEqual(moved, [0.33333, 0.33333, 0.33333, 0.0])
        self.assertEqual(sorted(ranks), [0, 1, 2])

    def test_a_loop_that_counts_itself_ends_with_its_own_number_of_steps_and_the_same_bits(self):
        def params(output):
            return re.findall("params +([0-9a-f]+)", output)
        _, whole = self.run_habit("counted")
        self.run_habit("counted", code=-9, DIES="1")
        results, output = self.run_habit("counted", resume=True)
        self.assertEqual(results, [60] * PEERS)
        self.assertIn("goes through its first", output)
        self.assertEqual(params(output), params(whole))


if __name__ == "__main__":
    unittest.main()
