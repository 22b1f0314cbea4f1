"""What the scripts of a fleet do together. GRAPEVINE_LIBRARY names the library."""

import unittest

from fleets import Fleet, check, started, together, wait

TIMES = ["before the first step", "after some steps", "after mistakes"]
PEERS = 4


class VerbsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        names = ["d-psgd", "{ kind: d-psgd, order: atc }", "ad-psgd"]
        more = "faults: { deadline: 1 s }\n"      # for those that take a step more than their neighbours
        fleets = [Fleet(algorithm=name, rounds=100000, more=more) for name in names]
        for fleet in fleets:
            cls.addClassCleanup(fleet.close)
        cls.answers = dict(zip(names, together(["verbs.py"] * PEERS, [(fleet, {}) for fleet in fleets])))

    def each(self):
        """Every peer's answers, of every method."""
        for name, answers in self.answers.items():
            for i, answer in enumerate(answers):
                with self.subTest(algorithm=name, peer=i):
                    yield i, answer

    def test_sums_means_and_broadcasts_are_right_at_any_time(self):
        for i, answer in self.each():
            for time in TIMES:
                got = answer[time]
                self.assertEqual(got["mean"], 1.5)
                self.assertEqual(got["sum"], [10, 10, 10])
                self.assertEqual(got["gradient"], [[30, 30], [7.5, 7.5]])
                self.assertEqual(got["double"], [[6, 18], [10, 22], [14, 26]])
                self.assertEqual(got["half"], ["torch.bfloat16", [3, 3]])
                self.assertEqual(got["root"], [[3, 7]])
                self.assertEqual(got["horovod"], 1)
                self.assertEqual(got["empty"], [])
                before = (i - 1) % PEERS
                self.assertEqual(got["pulled"], [[[before]], [before] * 3])
                self.assertEqual(got["pushed"], [None, None])

    def test_neighbors_average_by_the_weights_of_the_graph(self):
        for i, answer in self.each():
            expected = sum((i + k) % PEERS for k in (-1, 0, 1)) / 3
            for time in TIMES:
                self.assertAlmostEqual(answer[time]["neighbors"][0], expected, places=5)
                self.assertAlmostEqual(answer[time]["neighbors"][1], 1, places=5)

    def test_sums_are_the_same_bits_at_each_peer(self):
        for name, answers in self.answers.items():
            for time in TIMES:
                self.assertEqual(len({answer[time]["large"] for answer in answers}), 1, name)
            self.assertEqual(len({answers[0][time]["large"] for time in TIMES}), len(TIMES), name)

    def test_what_cannot_be_is_an_error_and_the_next_call_goes_well(self):
        for _, answer in self.each():
            self.assertEqual(answer["before"], "none")
            self.assertTrue(answer["size"].startswith("Disagreement: peer "), answer)
            self.assertTrue(answer["name"].startswith("Disagreement: peer "), answer)
            self.assertIn("has no link with peer", answer["link"])
            self.assertTrue(answer["type"].startswith("Disagreement: peer "), answer)
            self.assertTrue(answer["other type"].startswith("Disagreement: peer "), answer)
            self.assertIn("whole numbers have a sum", answer["whole"])
            self.assertIn("the root is peer 4, and those that train are 0 to 3", answer["root"])


class LeavesTest(unittest.TestCase):
    def ends(self, way, who):
        fleet = Fleet(rounds=100000)
        self.addCleanup(fleet.close)
        done = wait(started(["leaves.py"] * PEERS, [(fleet, {"way": way, "who": who})]))
        for i, process in enumerate(done):
            if i != who:
                check(process)
        return [fleet.answer(i) for i in range(PEERS) if i != who]

    def test_who_waits_for_a_peer_that_goes_is_told_so_and_trains_on(self):
        for way, who in (("dies", 2), ("dies", 0), ("fails", 1), ("leaves", 3)):
            with self.subTest(way=way, who=who):
                how = "left" if way == "leaves" else "died"
                for answer in self.ends(way, who):
                    self.assertEqual(answer["total"], [PEERS] * 3)
                    self.assertEqual(answer["why"], [f"peer {who} has {how}: what all peers do together is not "
                                                     "possible without it"] * 3)
                    self.assertEqual(answer["round"], 4)


if __name__ == "__main__":
    unittest.main()
