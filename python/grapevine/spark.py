"""Spark starts the peers: a barrier stage with a task for each.

    results = grapevine.spark.run(train, spark.sparkContext, "fleet.yaml", data=rdd)

Driver and executors have the same Python packages, and each executor holds one task at a time or has cores for more.
"""

from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence

from grapevine._engines import be_peer, travelling
from grapevine._launch import Fleet


def run(train: Callable[..., Any], context: Any, fleet: Fleet, data: Optional[Any] = None, *,
        sets: Sequence[str] = ()) -> List[Any]:
    """Runs train() as each peer of a fleet, in tasks of a barrier stage, and returns what each of them returned.

    train: does what a script does, with init() done; with `data` it is called with the list of its partition's rows.
    context: the SparkContext. fleet: path of a fleet file, or its keys as a dictionary. data: an RDD, which is divided
    into a partition for each peer. sets: "peers=8", over the file's values.

    All tasks run at once or none does: Spark raises where it has too few cores. A task that fails ends the stage, and
    Spark starts all of it again as often as its configuration says.
    """
    travels = travelling(fleet, sets)
    rows = context.parallelize(range(travels.peers), travels.peers) if data is None else data
    if rows.getNumPartitions() != travels.peers:
        rows = rows.repartition(travels.peers)
    gives_rows = data is not None     # an RDD itself cannot travel to its tasks

    def task(own: Iterable[Any]) -> Iterator[Any]:
        from pyspark import BarrierTaskContext
        here = BarrierTaskContext.get()
        arguments = [list(own)] if gives_rows else []
        yield be_peer(travels, here.partitionId(), here.allGather, train, *arguments)

    return rows.barrier().mapPartitions(task).collect()
