"""Steps of the environments once more, in double and apart from the program.

Each line of the standard input is one step as JSON: the environment's name, its state before, the
action, the state after, the reward, and whether the episode is over. Prints the largest relative
difference of any number; fails on one above 1e-12 and on any other reward or end. Where gymnasium
is installed, the same steps are held against it as well.
"""

import json
import math
import sys


def cartpole(state, action):
    x, v, angle, spin = state
    sine, cosine = math.sin(angle), math.cos(angle)
    push = (10.0 if action else -10.0) + 0.05 * spin ** 2 * sine
    turn = 9.8 * sine - cosine * push / 1.1
    turn /= 0.5 * (4 / 3 - 0.1 * cosine ** 2 / 1.1)
    speedup = push / 1.1 - 0.05 * turn * cosine / 1.1
    after = [x + 0.02 * v, v + 0.02 * speedup, angle + 0.02 * spin, spin + 0.02 * turn]
    return after, 1, abs(after[0]) > 2.4 or abs(after[2]) > math.radians(12)


def mountain_car(state, action):
    x, v = state
    v = min(max(v + (action - 1) * 0.001 - 0.0025 * math.cos(3 * x), -0.07), 0.07)
    x = min(max(x + v, -1.2), 0.6)
    if x == -1.2:
        v = max(v, 0)
    return [x, v], -1, x >= 0.5 and v >= 0


def acrobot_slope(state, torque):
    """Both equations of motion, solved by Cramer's rule."""
    a, b, u, v = state
    m11 = 3.5 + math.cos(b)
    m12 = 1.25 + 0.5 * math.cos(b)
    m22 = 1.25
    gravity2 = 4.9 * math.sin(a + b)
    gravity1 = 14.7 * math.sin(a) + gravity2
    right1 = 0.5 * math.sin(b) * (v * v + 2 * u * v) - gravity1
    right2 = torque - 0.5 * math.sin(b) * u * u - gravity2
    determinant = m11 * m22 - m12 * m12
    return [u, v, (right1 * m22 - m12 * right2) / determinant,
            (m11 * right2 - m12 * right1) / determinant]


def acrobot(state, action):
    def along(slope, h):
        return [s + h * k for s, k in zip(state, slope)]

    torque = action - 1
    k1 = acrobot_slope(state, torque)
    k2 = acrobot_slope(along(k1, 0.1), torque)
    k3 = acrobot_slope(along(k2, 0.1), torque)
    k4 = acrobot_slope(along(k3, 0.2), torque)
    after = [s + 0.2 / 6 * (p + 2 * q + 2 * r + t)
             for s, p, q, r, t in zip(state, k1, k2, k3, k4)]
    for k in (0, 1):
        after[k] = math.remainder(after[k], 2 * math.pi)
    for k, most in ((2, 4 * math.pi), (3, 9 * math.pi)):
        after[k] = min(max(after[k], -most), most)
    over = -math.cos(after[0]) - math.cos(after[0] + after[1]) > 1
    return after, 0 if over else -1, over


def bricks(state, action):
    x, y, dx, dy, _, _, paddle = (int(v) for v in state[:7])
    wall = {(k % 10, 1 + k // 10) for k in range(30) if state[7 + k]}
    paddle = min(max(paddle + action - 1, 0), 9)
    to_x, to_y, reward = x + dx, y + dy, 0
    if to_x not in range(10):
        to_x, dx = x, -dx
    if to_y < 0:
        to_y, dy = y, -dy
    if (to_x, to_y) in wall:
        wall.discard((to_x, to_y))
        to_y, dy, reward = y, -dy, 1
    elif to_y == 9 and paddle in (x, to_x):
        if paddle != x:
            dx = -dx
        to_y, dy = y, -dy
    if not wall:
        wall = {(k % 10, 1 + k // 10) for k in range(30)}
    bits = [float((k % 10, 1 + k // 10) in wall) for k in range(30)]
    return [to_x, to_y, dx, dy, x, y, paddle] + bits, reward, to_y == 9


OURS = {'cartpole': cartpole, 'mountain-car': mountain_car, 'acrobot': acrobot, 'bricks': bricks}
THEIRS = {'cartpole': 'CartPole-v1', 'mountain-car': 'MountainCar-v0', 'acrobot': 'Acrobot-v1'}


def gymnasium_steps():
    """Their steps by name; none where gymnasium is not installed."""
    try:
        import gymnasium
        import numpy
    except ImportError:
        return {}

    def step_of(environment):
        def step(state, action):
            environment.reset(seed=1)
            environment.state = numpy.array(state)
            _, reward, over, _, _ = environment.step(action)
            return [float(v) for v in environment.state], reward, over
        return step
    return {name: step_of(gymnasium.make(id).unwrapped) for name, id in THEIRS.items()}


def check(line, step, angles):
    """The largest difference of one step."""
    after, reward, over = step(line['state'], line['action'])
    if (reward, bool(over)) != (line['reward'], line['over']):
        sys.exit(f'another reward or end: {line}, here {after} {reward} {over}')
    most = 0
    for k, (ours, theirs) in enumerate(zip(line['next'], after, strict=True)):
        off = abs(ours - theirs)
        if k in angles:  # pi and -pi are one angle
            off = min(off, abs(2 * math.pi - off))
        most = max(most, off / max(1, abs(theirs)))
    if most > 1e-12:
        sys.exit(f'{most} off: {line}, here {after}')
    return most


def main():
    most, steps = 0, 0
    gymnasium = gymnasium_steps()
    for text in sys.stdin:
        line = json.loads(text)
        angles = (0, 1) if line['name'] == 'acrobot' else ()
        for table in (OURS, gymnasium):
            if line['name'] in table:
                most = max(most, check(line, table[line['name']], angles))
        steps += 1
    print(steps, 'steps, at most', most, 'off', 'with gymnasium' if gymnasium else '')


main()
