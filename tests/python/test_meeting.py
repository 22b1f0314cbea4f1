"""How peers that nobody launches announce themselves."""

import os
import unittest
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


if __name__ == "__main__":
    unittest.main()
