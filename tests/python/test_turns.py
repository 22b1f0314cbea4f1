"""before() and after() over every order of turns that a row can ask for."""

import ctypes
import math
import subprocess
import sys
import time
import unittest

from grapevine import _library as lib
from grapevine._errors import Error
from grapevine._session import Told
from grapevine._turns import STUCK, Evaluations, Farewell, Turns
from scripted import ScriptedSession


class Counting:
    """A program that counts."""

    def __init__(self) -> None:
        self.given = self.taken = self.settled = 0
        self.behind = False     # code of the batch is still to come

    def give(self) -> None:
        self.given += 1

    def take(self) -> None:
        self.taken += 1

    def settle(self) -> None:
        self.settled += 1

    def evaluate(self) -> Told:
        return Told(test_loss=0.5)

    def waits(self) -> bool:
        return self.behind

    def save(self) -> bytes:
        return b"state"


def begun(turns, **info):
    session = ScriptedSession(turns, **info)
    driven = Turns(session, Counting())
    driven.start(Told())
    session.calls.clear()
    return session, driven


class TurnsTest(unittest.TestCase):
    def test_a_step_between_two_exchanges(self):
        session, turns = begun([lib.GRADIENT, lib.STEP, lib.GRADIENT])
        self.assertTrue(turns.before(Told(loss=1.0)))
        self.assertEqual(session.calls, [Told(loss=1.0)])
        self.assertTrue(turns.after())
        self.assertEqual(session.calls, [Told(loss=1.0), Told()])
        self.assertEqual(turns.turn, lib.GRADIENT)

    def test_gradient_and_step_in_one_turn_end_after_the_step(self):
        session, turns = begun([lib.GRADIENT_AND_STEP, lib.GRADIENT_AND_STEP])
        self.assertTrue(turns.before(Told(loss=2.0)))
        self.assertEqual(session.calls, [])
        self.assertTrue(turns.after())
        self.assertEqual(session.calls, [Told(loss=2.0)])

    def test_where_servers_step_the_script_does_not(self):
        session, turns = begun([lib.GRADIENT, lib.GRADIENT])
        self.assertFalse(turns.before(Told(loss=1.0), [8, 16]))
        self.assertTrue(turns.after())
        self.assertEqual(session.calls, [("point", lib.GRADIENTS, [8, 16]), Told(loss=1.0)])

    def test_waits_evaluations_and_checkpoints_are_between(self):
        session, turns = begun(
            [lib.GRADIENT, lib.STEP, lib.NONE, lib.EVALUATE, lib.NONE, lib.SAVE, lib.GRADIENT])
        turns.before(Told())
        session.calls.clear()
        self.assertTrue(turns.after())
        self.assertEqual(session.calls, [Told(), None, Told(test_loss=0.5), None, ("state", b"state"), Told()])

    def test_a_checkpoint_waits_for_the_code_behind_the_step(self):
        for ways in ("next batch", "next step"):
            session, turns = begun([lib.GRADIENT, lib.STEP, lib.SAVE, lib.GRADIENT, lib.STEP])
            turns.before(Told())
            turns._program.behind = True
            session.calls.clear()
            self.assertTrue(turns.after())
            self.assertEqual((session.calls, turns.turn), ([Told()], lib.SAVE))
            if ways == "next batch":
                turns.go_on()
                self.assertEqual(turns.turn, lib.GRADIENT)
                turns.go_on()       # does nothing twice
                self.assertEqual(session.calls, [Told(), ("state", b"state"), Told()])
            self.assertTrue(turns.before(Told(loss=1.0)))
            self.assertEqual(session.calls, [Told(), ("state", b"state"), Told(), Told(loss=1.0)])

    def test_the_end_may_come_in_either_call(self):
        _, turns = begun([lib.GRADIENT])
        self.assertFalse(turns.before(Told()))
        self.assertFalse(turns.after())
        _, turns = begun([lib.GRADIENT, lib.STEP])
        self.assertTrue(turns.before(Told()))
        self.assertFalse(turns.after())
        self.assertFalse(turns.before(Told()))

    def test_a_skipped_step_leaves_the_turn_as_it_is(self):
        session, turns = begun([lib.GRADIENT, lib.STEP, lib.GRADIENT])
        self.assertEqual(turns.turn, lib.GRADIENT)       # GradScaler called no step: no call came
        self.assertTrue(turns.before(Told(loss=3.0)))
        self.assertEqual(session.calls, [Told(loss=3.0)])

    def reduced(self, turns):
        session = ScriptedSession(turns, algorithm="all-reduce")
        driven = Turns(session, Counting(), [3, 0, 1])
        driven.start(Told())
        session.calls.clear()
        return session, driven

    def test_who_leaves_says_so_with_gradients_that_no_script_has(self):
        session, turns = self.reduced([lib.GRADIENT, lib.STEP])
        turns.leave(math.inf)
        (_, what, addresses), told = session.calls
        self.assertEqual((what, told), (lib.GRADIENTS, Told()))
        self.assertEqual(list((ctypes.c_float * 3).from_address(addresses[0])), [math.inf, -math.inf, math.inf])
        for other in (begun([lib.GRADIENT, lib.STEP]), self.reduced([lib.STEP])):
            other[1].leave(math.inf)
            self.assertEqual(other[0].calls, [])

    def test_nobody_steps_by_a_mean_that_lacks_who_has_left(self):
        farewell = Farewell([3, 0, 1])
        left = farewell.addresses()
        session, turns = self.reduced([lib.GRADIENT, lib.STEP, lib.GRADIENT])
        self.assertFalse(turns.before(Told(loss=1.0), left))
        self.assertEqual([call for call in session.calls if isinstance(call, Told)],
                         [Told(loss=1.0), Told(), Told(loss=1.0)])
        self.assertTrue(turns.over)
        for values in ([math.inf] * 3, [math.inf, -math.inf, 1.0], [math.nan] * 3, [0.0] * 3):
            mean, end = (ctypes.c_float * 3)(*values), (ctypes.c_float * 1)(-math.inf)
            _, turns = self.reduced([lib.GRADIENT, lib.STEP, lib.GRADIENT])
            self.assertTrue(turns.before(Told(), [ctypes.addressof(mean), 0, ctypes.addressof(end)]), values)

    def test_tensors_of_one_element_each_say_farewell_by_their_order(self):
        farewell = Farewell([1, 0, 1])
        self.assertTrue(farewell.heard(farewell.addresses()))
        broken = [(ctypes.c_float * 1)(math.inf) for _ in range(3)]
        self.assertFalse(farewell.heard([ctypes.addressof(value) for value in broken]))

    def test_an_infinite_gradient_of_the_only_element_ends_no_script(self):
        farewell = Farewell([1])
        self.assertEqual([farewell.heard(farewell.addresses()) for _ in range(4)], [True, False, True, False])


class EvaluationsTest(unittest.TestCase):
    def told(self, result):
        session = ScriptedSession([])
        return Evaluations(session).told(lambda: result), session.calls

    def test_what_evaluate_may_return(self):
        self.assertEqual(self.told(0.25), (Told(test_loss=0.25), []))
        self.assertEqual(self.told((0.25, 0.5)), (Told(test_loss=0.25, accuracy=0.5), []))
        self.assertEqual(self.told([0.25, 0.5]), (Told(test_loss=0.25, accuracy=0.5), []))
        self.assertEqual(self.told({"loss": 1, "accuracy": 0.5, "f1": 0.75, "odd": float("nan")}),
                         (Told(test_loss=1.0, accuracy=0.5), [("say", {"figures": {"f1": 0.75}})]))

    def test_what_gives_no_figures_is_refused_before_the_start_and_left_out_later(self):
        cases = [("0.25", "not a loss"), (None, "not a loss"), ((1.0, 0.5, 2), "not a loss"),
                 ((0.4, 83.7), "accuracy of 83.7: it is 0 to 1\nhelp: divide percent by 100"),
                 ((0.4, -0.5), "accuracy of -0.5: it is 0 to 1"), ((0.4, float("nan")), "accuracy of nan"),
                 ({"f1": 0.7}, "'f1', and neither 'loss' nor 'accuracy'"), ({}, "nothing, and neither"),
                 ({"loss": 1, "matrix": [1]}, "matrix of evaluate is a list, and no number")]
        for result, words in cases:
            with self.subTest(result):
                told, calls = self.told(result)
                self.assertNotEqual(told.test_loss, told.test_loss)     # NaN: no figure
                self.assertIsNone(told.accuracy)
                self.assertIn(words, calls[0][1]["text"])
                with self.assertRaises(Error) as refused:
                    Evaluations(ScriptedSession([])).tried(lambda: result)
                self.assertIn(words, str(refused.exception))

    def test_an_exception_at_the_start_is_the_scripts(self):
        with self.assertRaisesRegex(Error, "tried once before the start, and failed: .*division"):
            Evaluations(ScriptedSession([])).tried(lambda: 1 // 0)

    def test_an_evaluation_that_does_not_end_ends_its_process_and_says_so(self):
        script = ("import threading\nfrom grapevine._turns import Evaluations\nfrom scripted import ScriptedSession\n"
                  "evaluations = Evaluations(ScriptedSession([]), 0.2)\n"
                  "assert evaluations.told(lambda: 1.0).test_loss == 1.0\n"
                  "evaluations.told(threading.Event().wait)")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, STUCK, done.stderr)
        self.assertIn("evaluate has not ended within 0.2 s: this peer ends (faults.stuck_after)", done.stderr)
        Evaluations(ScriptedSession([]), 0.2).told(lambda: 1.0)
        time.sleep(0.3)     # this process is still here

    def test_a_traceback_is_said_once(self):
        session = ScriptedSession([])
        evaluations = Evaluations(session)
        for _ in range(2):
            evaluations.told(lambda: 1 // 0)
        self.assertEqual(len(session.calls), 1)
        self.assertIn("ZeroDivisionError", session.calls[0][1]["text"])
        evaluations.told(lambda: [][0])
        self.assertEqual(len(session.calls), 2)


if __name__ == "__main__":
    unittest.main()
