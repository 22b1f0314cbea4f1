"""How peers that nobody launches announce themselves."""

import os
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from grapevine import _meeting


class OwnHostTest(unittest.TestCase):
    def test_it_is_where_the_peer_listens(self):
        self.assertEqual(_meeting.own_host("10.1.2.3:27000"), "10.1.2.3")
        self.assertEqual(_meeting.own_host("[fe80::1%eth0]:27000"), "fe80::1%eth0")
        self.assertEqual(_meeting.host_port("fe80::1%eth0", 27000), "[fe80::1%eth0]:27000")

    def test_all_addresses_are_none_to_dial(self):
        with mock.patch.dict(os.environ, {"MASTER_ADDR": "127.0.0.1"}):
            self.assertEqual(_meeting.own_host("0.0.0.0:0"), "127.0.0.1")
            self.assertEqual(_meeting.own_host(), "127.0.0.1")
            self.assertEqual(_meeting.own_host("[::]:0"), "127.0.0.1")
        with mock.patch.dict(os.environ, {"MASTER_ADDR": "::1"}):
            self.assertEqual(_meeting.own_host(), "::1")
        with mock.patch.dict(os.environ, {"MASTER_ADDR": "no.such.host.invalid"}):
            with self.assertRaisesRegex(_meeting.Error, "no way to MASTER_ADDR"):
                _meeting.own_host()

    def test_those_who_meet_hear_it(self):
        info = {"id": 0, "peers": 1, "port": 27001, "model": "m", "rejoined": False, "start": "s"}
        self.assertEqual(_meeting.addresses(lambda text: [text], info, "10.1.2.3:0"),
                         [{"peer": 0, "host": "10.1.2.3", "port": 27001}])

    def test_the_tensor_in_which_two_models_differ_is_named(self):
        mine = [("a", [1, 3]), ("b", [2])]
        self.assertEqual(_meeting.difference(mine, [("a", [1, 3]), ("b", [2])]), "")
        self.assertEqual(_meeting.difference(mine, [("b", [2]), ("a", [1, 3])]),
                         "tensor 0 is b [2] there, and a [1, 3] here")
        self.assertEqual(_meeting.difference(mine, mine[:1]), "tensor 1 is nothing there, and b [2] here")

    def test_all_gather_by_a_folder_serves_many_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            gathers = [_meeting.in_folder(folder, i, 2) for i in range(2)]
            with ThreadPoolExecutor(2) as both:
                for call in range(3):
                    texts = [f"{call} of {i}" for i in range(2)]
                    self.assertEqual(list(both.map(lambda i: gathers[i](texts[i]), range(2))), [texts, texts])


if __name__ == "__main__":
    unittest.main()
