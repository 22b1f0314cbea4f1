"""How a script may end, and what its neighbours see of it: Ctrl-C, a kill with workers alive, an exception."""

import os
import signal
import subprocess
import unittest

from fleets import PATIENCE_S, Fleet, started


def until(process: subprocess.Popen, word: str) -> str:
    """Reads what a process prints up to the line that begins with a word."""
    for line in process.stdout:
        if line.startswith(word):
            return line
    raise AssertionError(f"it ended with {process.wait()} before it said {word}")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"


class EndsTest(unittest.TestCase):
    def started(self, *ways, **values):
        fleet = Fleet(peers=len(ways), rounds=60, **values)
        self.addCleanup(fleet.close)
        processes = started(["endless.py"] * len(ways), [(fleet, {"ways": list(ways)})])
        for process in processes:
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        return processes

    def finished(self, process):
        output, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, output

    def test_ctrl_c_in_a_wait_for_a_neighbour_ends_the_script(self):
        waits, stands = self.started({}, {"stands": 3})
        until(stands, "stands")
        until(waits, "steps 3")
        waits.send_signal(signal.SIGINT)
        code, output = self.finished(waits)
        self.assertEqual(code, -signal.SIGINT, output)      # a shell says 130
        self.assertIn("KeyboardInterrupt", output)
        self.assertIsNone(stands.poll())

    def test_workers_and_children_of_a_killed_peer_do_not_keep_it_alive(self):
        killed, *others = self.started({"workers": 2}, {}, {})
        workers = [int(pid) for pid in until(killed, "workers").split()[1:]]
        for worker in workers:
            self.addCleanup(lambda pid=worker: alive(pid) and os.kill(pid, signal.SIGKILL))
        until(killed, "steps 5")
        killed.kill()
        for other in others:
            code, output = self.finished(other)
            self.assertEqual(code, 0, output)
            self.assertIn("\nrounds ", output)
            self.assertIn("connection to peer 0 lost", output)
            self.assertNotIn("peer 0: no message for", output)     # which a child with its sockets would bring about
        self.assertTrue(alive(workers[0]))     # others may be ended by PyTorch

    def test_who_makes_fewer_steps_ends_the_others_with_an_error(self):
        first, *others = self.started({"only": 5}, {"only": 9}, {"only": 9}, algorithm="all-reduce")
        code, output = self.finished(first)
        self.assertEqual(code, 0, output)
        for other in others:
            code, output = self.finished(other)
            self.assertEqual(code, 1, output)
            self.assertRegex(output, "PeerLost: peer 0 has left, and all-reduce cannot continue without it")

    def test_whose_neighbour_left_for_want_of_another_is_told_who_that_was(self):
        for way, code, lost in (({"fails": 4}, 1, "is lost"), ({"only": 5}, 0, "has left")):
            with self.subTest(lost):
                first, *others = self.started(way, *[{"only": 30}] * 4, algorithm="all-reduce", topology="path")
                self.assertEqual(self.finished(first)[0], code)
                for other in others:
                    code, output = self.finished(other)
                    self.assertEqual(code, 1, output)
                    self.assertIn(f"PeerLost: peer 0 {lost}, and all-reduce cannot continue without it", output)

    def test_inside_running_the_loop_ends_when_another_has_fewer_steps(self):
        first, *others = self.started({"only": 5}, {}, {}, algorithm="all-reduce")
        for process, rounds in ((first, 5), *((other, 6) for other in others)):     # the first leaves in its sixth
            code, output = self.finished(process)
            self.assertEqual(code, 0, output)
            self.assertIn(f"\nrounds {rounds}\n", output)

    def test_an_exception_is_a_death_that_the_neighbours_see(self):
        failed, *others = self.started({"fails": 4}, {}, {})
        code, output = self.finished(failed)
        self.assertEqual(code, 1)
        self.assertIn("RuntimeError: as a script fails", output)
        for other in others:
            code, output = self.finished(other)
            self.assertEqual(code, 0, output)
            self.assertIn("\nrounds ", output)


if __name__ == "__main__":
    unittest.main()
