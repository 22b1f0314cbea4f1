#!/usr/bin/env python3
"""A deep Q-network (Mnih et al. 2015) with double targets, as a peer of a fleet, on any environment of gymnasium.

    grapevine run agent.yaml
    agent.py [--environment CartPole-v1] [--steps 8000]      a fleet of one

Each peer acts in an environment of its own, and averages its network with its neighbours after each gradient. Where
gymnasium is not installed, the pole on a cart below is the environment.
"""
import argparse
import copy
import math
import random

import torch
import torch.nn.functional as F

import grapevine.torch as gv

DISCOUNT, MEMORY, WARM_UP, REFRESH, EPISODES = 0.99, 20000, 500, 250, 10


class CartPole:
    """The pole on a cart of Barto, Sutton & Anderson (1983), with the interface of gymnasium."""
    inputs, actions = 4, 2

    def reset(self, seed=None):
        if seed is not None:
            self.drawn = random.Random(seed)
        self.state, self.taken = [self.drawn.uniform(-0.05, 0.05) for _ in range(4)], 0
        return self.state, {}

    def step(self, action):
        x, v, angle, turn = self.state
        sine, cosine = math.sin(angle), math.cos(angle)
        push = ((10.0 if action == 1 else -10.0) + 0.05 * turn * turn * sine) / 1.1
        bend = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
        pull = push - 0.05 * bend * cosine / 1.1
        self.state = [x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * turn, turn + 0.02 * bend]
        self.taken += 1
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)
        return self.state, 1.0, fallen, self.taken == 500, {}


def make(name):
    """The environment, its numbers of inputs and of actions."""
    try:
        import gymnasium
    except ImportError:
        if name != "CartPole-v1":
            raise SystemExit(f"{name} is one of gymnasium's: pip install gymnasium")
        return CartPole(), CartPole.inputs, CartPole.actions
    made = gymnasium.make(name)
    return made, math.prod(made.observation_space.shape), int(made.action_space.n)


def tensor(observation):
    return torch.as_tensor(observation, dtype=torch.float32).flatten()


def best(model, observation):
    with torch.no_grad():
        return int(model(observation).argmax())


def evaluate(model, name):
    """The mean return of some episodes without exploring, from starts that are always the same."""
    environment, total = make(name)[0], 0.0
    for episode in range(EPISODES):
        seen, over = environment.reset(seed=1000 + episode)[0], False
        while not over:
            seen, reward, ended, cut, _ = environment.step(best(model, tensor(seen)))
            total, over = total + float(reward), ended or cut
    return {"loss": -total / EPISODES, "return": total / EPISODES}


def targets(model, older, reward, after, ended):
    """Double targets: what the older network gives for the action that the newer takes (arXiv:1509.06461)."""
    with torch.no_grad():
        later = older(after).gather(1, model(after).argmax(1, keepdim=True)).squeeze(1)
        return reward + DISCOUNT * later * (1 - ended)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--environment", default="CartPole-v1")
    words.add_argument("--steps", type=int, default=8000)
    words.add_argument("--lr", type=float, default=0.001)
    given = words.parse_args()

    gv.init()
    environment, inputs, actions = make(given.environment)
    model = torch.nn.Sequential(torch.nn.Linear(inputs, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128),
                                torch.nn.ReLU(), torch.nn.Linear(128, actions))
    optimizer = torch.optim.Adam(model.parameters(), lr=given.lr)
    gv.DistributedOptimizer(optimizer, model, evaluate=lambda model: evaluate(model, given.environment))

    drawn, memory, older = random.Random(gv.rank()), [], copy.deepcopy(model)
    now = tensor(environment.reset(seed=gv.rank())[0])
    for step in gv.running(range(given.steps)):
        while True:      # one step of the environment for each gradient, and more before the first
            explore = max(0.05, 1 - step / (0.4 * given.steps))
            action = drawn.randrange(actions) if drawn.random() < explore else best(model, now)
            after, reward, ended, cut, _ = environment.step(action)
            after = tensor(after)
            memory.append((now, action, float(reward), after, float(ended)))
            now = tensor(environment.reset()[0]) if ended or cut else after
            if len(memory) >= WARM_UP:
                break
        del memory[:-MEMORY]
        batch = zip(*drawn.choices(memory, k=gv.batch(64)))
        before, taken, rewards, next_seen, over = (torch.stack(part) if torch.is_tensor(part[0]) else torch.tensor(part)
                                                   for part in batch)
        optimizer.zero_grad()
        value = model(before).gather(1, taken.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(value, targets(model, older, rewards, next_seen, over))
        loss.backward()
        optimizer.step()
        gv.log(loss)
        if step % REFRESH == 0:
            older.load_state_dict(model.state_dict())
    print("return of the own network: %.1f" % evaluate(model, given.environment)["return"])


if __name__ == "__main__":
    main()
