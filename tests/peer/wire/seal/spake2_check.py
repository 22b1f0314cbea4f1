#!/usr/bin/env python3
"""SPAKE2 of RFC 9382 in Python integers, which shares no code with peer/wire/seal/spake2.cpp.

Reads lines from standard input and exits with 1 if one of them is wrong:
  spake2 JOINS LOBBY STRETCHED X Y CHANNEL SHARE_A SHARE_B PROOF_A PROOF_B
  scrypt SECRET SALT STRETCHED
Each word is hexadecimal; "-" is the empty text.
"""

import hashlib
import hmac
import sys

# P-256: SEC 2, version 2, 2.4.2.
FIELD = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
     0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def on_curve(point):
    x, y = point
    return (y * y - (x * x * x - 3 * x + B)) % FIELD == 0


def double(point):
    """Returns 2 P in Jacobian coordinates; None is the identity."""
    if point is None:
        return None
    x, y, z = point
    slope = 3 * (x - z * z) * (x + z * z) % FIELD
    s = 4 * x * y * y % FIELD
    x2 = (slope * slope - 2 * s) % FIELD
    return x2, (slope * (s - x2) - 8 * y**4) % FIELD, 2 * y * z % FIELD


def add(p, q):
    if p is None or q is None:
        return p or q
    (x1, y1, z1), (x2, y2, z2) = p, q
    u1, u2 = x1 * z2 * z2 % FIELD, x2 * z1 * z1 % FIELD
    s1, s2 = y1 * z2**3 % FIELD, y2 * z1**3 % FIELD
    if u1 == u2:
        return double(p) if s1 == s2 else None
    h, r = u2 - u1, s2 - s1
    x3 = (r * r - h**3 - 2 * u1 * h * h) % FIELD
    return x3, (r * (u1 * h * h - x3) - s1 * h**3) % FIELD, h * z1 * z2 % FIELD


def times(scalar, point):
    """Returns scalar * P from affine coordinates, as Jacobian ones."""
    product = None
    for bit in bin(scalar)[2:]:
        product = double(product)
        if bit == "1":
            product = add(product, (*point, 1))
    return product


def affine(point):
    x, y, z = point
    inverse = pow(z, -1, FIELD)
    return x * inverse * inverse % FIELD, y * inverse**3 % FIELD


def minus(point):
    return point and (point[0], -point[1] % FIELD, point[2])


def encoded(point):
    x, y = affine(point)
    return b"\4" + x.to_bytes(32, "big") + y.to_bytes(32, "big")


def decoded(share):
    point = int.from_bytes(share[1:33], "big"), int.from_bytes(share[33:], "big")
    assert len(share) == 65 and share[0] == 4 and on_curve(point)
    return (*point, 1)


def hashed_point(name):
    """Returns the point that Appendix A of the RFC derives from a text: the first of the hashes of
    hashes whose 33 bytes are a compressed point."""
    digest = f"1.2.840.10045.3.1.7 point generation seed ({name})".encode()
    while True:
        digest = hashlib.sha256(digest).digest()
        text = (digest + hashlib.sha256(digest).digest())[:33]
        x = int.from_bytes(text[1:], "big")
        y = pow(x**3 - 3 * x + B, (FIELD + 1) // 4, FIELD)
        if x < FIELD and on_curve((x, y)):
            return x, y if y % 2 == text[0] % 2 else FIELD - y


M, N = hashed_point("M"), hashed_point("N")


def confirmations(joins, lobby, shares, shared, w, channel):
    """Returns (Ke, Ka, KcA, KcB, cA, cB)."""
    parts = [joins, lobby, *shares, encoded(shared), w.to_bytes(32, "big")]
    transcript = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    keys = hashlib.sha256(transcript).digest()
    extracted = hmac.digest(bytes(32), keys[16:], "sha256")
    expanded = hmac.digest(extracted, b"ConfirmationKeys" + channel + b"\1", "sha256")
    codes = [hmac.digest(key, transcript, "sha256") for key in (expanded[:16], expanded[16:])]
    return keys[:16], keys[16:], expanded[:16], expanded[16:], *codes


def exchange(joins, lobby, stretched, x, y, channel):
    w = int.from_bytes(stretched, "big") % ORDER
    x, y = int.from_bytes(x, "big"), int.from_bytes(y, "big")
    mask_a, mask_b = times(w, M), times(w, N)
    shares = [encoded(add(times(x, G), mask_a)), encoded(add(times(y, G), mask_b))]
    shared = times(x, affine(add(decoded(shares[1]), minus(mask_b))))
    other = times(y, affine(add(decoded(shares[0]), minus(mask_a))))
    assert affine(shared) == affine(other)
    return (*shares, *confirmations(joins, lobby, shares, shared, w, channel))


def check_ourselves():
    """Checks this script by the first vector of Appendix B of the RFC, and by its M and N."""
    assert encoded((*M, 1))[:33].hex() == (
        "04886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f") and M[1] % 2 == 0
    assert encoded((*N, 1))[:33].hex() == (
        "04d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49") and N[1] % 2 == 1
    assert on_curve(G) and times(ORDER, G) is None
    numbers = ["2ee57912099d31560b3a44b1184b9b4866e904c49d12ac5042c97dca461b1a5f",
               "43dd0fd7215bdcb482879fca3220c6a968e66d70b1356cac18bb26c84a78d729",
               "dcb60106f276b02606d8ef0a328c02e4b629f84f89786af5befb0bc75b6e66be"]
    found = exchange(b"server", b"client", *map(bytes.fromhex, numbers), b"")
    assert [value.hex() for value in found[2:]] == [
        "0e0672dc86f8e45565d338b0540abe69",
        "15bdf72e2b35b5c9e5663168e960a91b",
        "00c12546835755c86d8c0db7851ae86f",
        "a9fa3406c3b781b93d804485430ca27a",
        "58ad4aa88e0b60d5061eb6b5dd93e80d9c4f00d127c65b3b35b1b5281fee38f0",
        "d3e2e547f1ae04f2dbdbf0fc4b79f8ecff2dff314b5d32fe9fcef2fb26dc459b"]


def is_right(kind, *values):
    if kind == "scrypt":
        secret, salt, stretched = values
        return stretched == hashlib.scrypt(secret, salt=salt, n=2**14, r=8, p=1, dklen=40)
    share_a, share_b, *_, proof_a, proof_b = exchange(*values[:6])
    return list(values[6:]) == [share_a, share_b, proof_a, proof_b]


def main():
    check_ourselves()
    checked = 0
    for line in sys.stdin:
        kind, *words = line.split()
        values = [bytes.fromhex("" if word == "-" else word) for word in words]
        if not is_right(kind, *values):
            sys.exit(f"spake2_check.py: wrong: {line}")
        checked += 1
    print(f"spake2_check.py: {checked} right")
    sys.exit(checked == 0)


if __name__ == "__main__":
    main()
