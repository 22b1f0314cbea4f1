"""Ray starts the peers: an actor for each, all placed at once.

    results = grapevine.ray.run(train, "fleet.yaml", num_gpus=1)
"""

import asyncio
from typing import Any, Callable, Dict, List, Sequence

import ray

from grapevine._engines import Travels, be_peer, travelling
from grapevine._launch import Fleet


def run(train: Callable[[], Any], fleet: Fleet, *, num_cpus: float = 1, num_gpus: float = 0,
        strategy: str = "SPREAD", sets: Sequence[str] = ()) -> List[Any]:
    """Runs train() as each peer of a fleet, in actors of a placement group. Returns the list of their results.

    train: function that does what a script does after init().
    fleet: path of a fleet file, or its keys as a dictionary.
    num_cpus, num_gpus: resources of each actor, which sees only its own GPUs.
    strategy: strategy of the placement group.
    sets: values that override the file's, such as ["peers=8"].

    Call ray.init() before. Waits until there is room for all peers. If a peer's process dies, the neighbours see its
    death, and its exception is raised here when the others have ended.
    """
    travels = travelling(fleet, sets)
    bundle = {"CPU": num_cpus, **({"GPU": num_gpus} if num_gpus else {})}
    group = ray.util.placement_group([bundle] * travels.peers, strategy=strategy)
    ray.get(group.ready())
    gathering = ray.remote(Gathering).options(num_cpus=0).remote(travels.peers)
    try:
        place = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy
        actors = [ray.remote(Actor).options(num_cpus=num_cpus, num_gpus=num_gpus, scheduling_strategy=place(group, i)
                                            ).remote() for i in range(travels.peers)]
        answers = [actor.be.remote(travels, i, gathering, train) for i, actor in enumerate(actors)]
        ray.wait(answers, num_returns=len(answers))
        return ray.get(answers)
    finally:
        ray.util.remove_placement_group(group)


class Actor:
    """One peer in a process of its own."""

    def be(self, travels: Travels, id: int, gathering: Any, train: Callable[[], Any]) -> Any:
        """Is a peer until its function ends."""
        met = iter(range(1_000_000))     # the how-manieth meeting: each has texts of its own

        def all_gather(text: str) -> List[str]:
            return ray.get(gathering.gather.remote(next(met), id, text))
        return be_peer(travels, id, all_gather, train)


class Gathering:
    """Where the peers of a fleet give a text and get those of all."""

    def __init__(self, peers: int) -> None:
        self._peers = peers
        self._texts: Dict[int, Dict[int, str]] = {}
        self._whole: Dict[int, asyncio.Event] = {}

    async def gather(self, meeting: int, id: int, text: str) -> List[str]:
        """Returns the texts of a meeting in the order of the peers, once all have come."""
        texts = self._texts.setdefault(meeting, {})
        whole = self._whole.setdefault(meeting, asyncio.Event())
        texts[id] = text
        if len(texts) == self._peers:
            whole.set()
        await whole.wait()
        return [texts[i] for i in range(self._peers)]
