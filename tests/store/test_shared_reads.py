"""Signs that ask together share a read, and none is answered by a read that began before it asked."""

import threading
import time
from collections.abc import Iterable

from controller.floor.definition import Floor
from controller.ids import LinkId
from controller.services.floor_in_force import FloorInForce
from controller.services.meters import Meters
from controller.store.link_store import LinkStore, MeterState
from tests.support.floors import LINK, commission, locked, small_floor

FLOOR = small_floor()


class OneFloor:
    def version(self) -> int:
        return 1

    def load(self) -> tuple[int, Floor]:
        return 1, FLOOR


class SlowStore(LinkStore):
    """Counts reads, and takes its time over each."""

    reads = 0

    def meters(self, links: Iterable[LinkId]) -> list[MeterState]:
        self.reads += 1
        found = super().meters(links)
        time.sleep(0.05)
        return found


def test_an_answer_is_never_older_than_its_question_and_questions_share_reads(store: LinkStore) -> None:
    commission(store, FLOOR)
    slow = SlowStore(store._client)
    meters = Meters(FloorInForce(OneFloor(), slow, time.monotonic), slow, lambda: time.time_ns() // 1000)
    wrong: list[str] = []

    def ask(number: int) -> None:
        for _ in range(5):
            before = store.head(LINK)
            seq = meters.snapshot().states[0].seq
            if before is None or seq < before.seq:
                wrong.append(f"{number}: {seq}")

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for number in range(1, 60):
        store.contribute(LINK, 1, FLOOR.digest(LINK), [[locked(FLOOR, "T-1", number, 1)]])
        time.sleep(0.005)
    for thread in threads:
        thread.join()
    assert wrong == []
    assert slow.reads < 12 * 5
