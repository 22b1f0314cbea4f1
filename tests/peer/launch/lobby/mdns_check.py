#!/usr/bin/env python3
"""Reads and writes packets of multicast DNS without a line of the product.

    mdns_check.py read HEX...    the header, the questions and the records of each packet, a line each
    mdns_check.py write NAME     the packet of that name below, in hexadecimal
"""
import ipaddress
import struct
import sys

TYPES = {1: "A", 12: "PTR", 16: "TXT", 28: "AAAA", 33: "SRV", 255: "ANY"}
SERVICE = ["_grapevine", "_tcp", "local"]


def read_name(packet, at):
    """Returns a name, and the position after it."""
    labels, end = [], None
    while True:
        length = packet[at]
        if length >= 0xC0:
            end = end or at + 2
            target = struct.unpack_from("!H", packet, at)[0] & 0x3FFF
            assert target < at, "a pointer forward"
            at = target
        elif length == 0:
            return ".".join(labels), end or at + 1
        else:
            assert length < 64, "a label of this length"
            labels.append(packet[at + 1:at + 1 + length].decode())
            at += 1 + length


def read_data(packet, kind, at, length):
    data = packet[at:at + length]
    if kind == "A" or kind == "AAAA":
        return str(ipaddress.ip_address(data))
    if kind == "PTR":
        return read_name(packet, at)[0]
    if kind == "SRV":
        return "%d %d %d " % struct.unpack_from("!HHH", packet, at) + read_name(packet, at + 6)[0]
    texts = []
    while data:
        texts.append(data[1:1 + data[0]].decode())
        data = data[1 + data[0]:]
    return " ".join(texts)


def read(packet):
    ident, flags, *counts = struct.unpack_from("!6H", packet)
    print("id %d flags %04x" % (ident, flags))
    at = 12
    for _ in range(counts[0]):
        name, at = read_name(packet, at)
        kind, group = struct.unpack_from("!2H", packet, at)
        at += 4
        print("question", name, TYPES[kind], "%04x" % group)
    for section, count in zip(("answer", "authority", "additional"), counts[1:]):
        for _ in range(count):
            name, at = read_name(packet, at)
            kind, group, ttl, length = struct.unpack_from("!2HIH", packet, at)
            at += 10
            print(section, name, TYPES[kind], "%04x" % group, ttl, read_data(packet, TYPES[kind], at, length))
            at += length
    assert at == len(packet), "bytes after the last record"


class Writer:
    """Writes a packet in which each name is compressed as far as it can be."""

    def __init__(self, ident, flags, counts):
        self.bytes = struct.pack("!6H", ident, flags, *counts)
        self.places = {}

    def name(self, labels):
        if not labels:
            self.bytes += b"\0"
        elif tuple(labels) in self.places:
            self.bytes += struct.pack("!H", 0xC000 | self.places[tuple(labels)])
        else:
            self.places[tuple(labels)] = len(self.bytes)
            self.bytes += bytes([len(labels[0])]) + labels[0].encode()
            self.name(labels[1:])

    def question(self, labels, kind, group=1):
        self.name(labels)
        self.bytes += struct.pack("!2H", kind, group)

    def record(self, labels, kind, ttl, *parts):
        """Parts are bytes, or lists of labels."""
        self.name(labels)
        self.bytes += struct.pack("!2HI", kind, 0x8001 if kind != 12 else 1, ttl)
        at = len(self.bytes)
        self.bytes += b"\0\0"
        for part in parts:
            if isinstance(part, bytes):
                self.bytes += part
            else:
                self.name(part)
        self.bytes = self.bytes[:at] + struct.pack("!H", len(self.bytes) - at - 2) + self.bytes[at + 2:]


def question(labels, kind, group=1):
    writer = Writer(0x1234, 0, (1, 0, 0, 0))
    writer.question(labels, kind, group)
    return writer.bytes


def known(ttl):
    """A question whose querier knows the lobby."""
    writer = Writer(0, 0, (1, 1, 0, 0))
    writer.question(SERVICE, 12)
    writer.record(SERVICE, 12, ttl, ["grapevine-42-0a1b2c3d"] + SERVICE)
    return writer.bytes


def two_lobbies():
    """An answer that describes two lobbies of one number, between records of other services."""
    writer = Writer(0, 0x8400, (0, 4, 0, 8))
    hosts = ["grapevine-42-00000001", "Grapevine-42-00000002"]
    writer.record(["_http", "_tcp", "local"], 12, 4500, ["printer", "_http", "_tcp", "local"])
    for host in hosts:
        writer.record(SERVICE, 12, 4500, [host] + SERVICE)
    writer.record(SERVICE, 12, 4500, ["without-records"] + SERVICE)
    for number, host in enumerate(hosts, 1):
        txt = b"".join(bytes([len(t)]) + t for t in (b"other", b"LOBBY=42", b"lobby=7", b"version=3"))
        writer.record([host] + SERVICE, 33, 120, struct.pack("!3H", 0, 0, 27000 + number), [host, "local"])
        writer.record([host] + SERVICE, 16, 4500, txt)
        writer.record([host, "local"], 1, 120, ipaddress.ip_address("10.0.0.%d" % number).packed)
        writer.record([host, "local"], 28, 120, ipaddress.ip_address("fe80::%d" % number).packed)
    return writer.bytes


HOST = "grapevine-42-0a1b2c3d"
PACKETS = {
    "service": lambda: question(SERVICE, 12),
    "service-unicast-bit": lambda: question(["_GRAPEVINE", "_TCP", "Local"], 12, 0x8001),
    "types": lambda: question(["_services", "_dns-sd", "_udp", "local"], 12),
    "srv": lambda: question([HOST] + SERVICE, 33),
    "txt": lambda: question([HOST] + SERVICE, 16),
    "any": lambda: question([HOST] + SERVICE, 255),
    "a": lambda: question([HOST, "local"], 1),
    "aaaa": lambda: question([HOST, "local"], 28),
    "other-service": lambda: question(["_http", "_tcp", "local"], 12),
    "other-host": lambda: question(["grapevine-42-0a1b2c3e", "local"], 1),
    "other-class": lambda: question(SERVICE, 12, 3),
    "known": lambda: known(4500),
    "known-long-ago": lambda: known(2000),
    "two-lobbies": two_lobbies,
}

if __name__ == "__main__":
    if sys.argv[1] == "read":
        for text in sys.argv[2:]:
            read(bytes.fromhex(text))
    else:
        print(PACKETS[sys.argv[2]]().hex())
