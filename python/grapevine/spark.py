"""Spark starts the peers: a barrier stage with a task for each.

    results = grapevine.spark.run(train, spark.sparkContext, "fleet.yaml", data=rdd)

Driver and executors need the same Python packages. Each executor runs one task at a time, or has cores for more.
"""

from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence

from grapevine._engines import be_peer, travelling
from grapevine._launch import Fleet


def run(train: Callable[..., Any], context: Any, fleet: Fleet, data: Optional[Any] = None, *,
        sets: Sequence[str] = ()) -> List[Any]:
    """Runs train() as each peer of a fleet, in tasks of a barrier stage. Returns the list of their results.

    train: function that does what a script does after init(). With `data`, its argument is the list of its rows.
    context: the SparkContext.
    fleet: path of a fleet file, or its keys as a dictionary.
    data: an RDD, which is divided into one partition per peer.
    sets: values that override the file's, such as ["peers=8"].

    All tasks run at once: Spark raises an exception if it has too few cores. If a task fails, the stage ends, and Spark
    restarts it as often as its configuration allows.
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
