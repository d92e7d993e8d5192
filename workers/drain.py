"""Copying a link's journal into the ledger, in order, exactly once.

The order of steps is the whole proof: read from the stream, commit to SQL, release from the stream.
A crash after any of them repeats work that is recognised as done; it never skips any.
"""

import logging
import time
from dataclasses import dataclass

import msgspec

from controller.errors import LedgerUnavailable, StoreUnavailable
from controller.ids import LinkId
from controller.store.link_store import LinkStore
from models.engine import Ledger
from models.posting import position_of, post_entries
from workers.metrics import DRAINED, MISMATCHES

log = logging.getLogger(__name__)

RELEASE_PER_CALL = 200


@dataclass(frozen=True, slots=True)
class Drain:
    """Drains one link at a time; any number may run at once."""

    store: LinkStore
    ledger: Ledger
    batch: int
    seconds: int

    def run(self, link: LinkId) -> int:
        """Drain until the journal is empty or the time is up; how many entries the ledger took."""
        deadline = time.monotonic() + self.seconds
        total = 0
        while time.monotonic() < deadline:
            taken = self._step(link)
            total += taken
            if taken == 0:
                break
        return total

    def _step(self, link: LinkId) -> int:
        position = position_of(self.ledger, link)
        self._release(link, position.seq)
        try:
            entries = self.store.journal_after(link, position.seq, self.batch)
            if not entries:
                return 0
            reached = post_entries(self.ledger, link, entries)
        except (LedgerUnavailable, StoreUnavailable):
            raise
        except Exception as error:
            # Not only a mismatch: whatever the ledger cannot take would pile up behind it unseen.
            self._fail_closed(link, error)
            raise
        self._release(link, reached.seq)
        taken = reached.seq - position.seq
        DRAINED.labels(link=link).inc(taken)
        return taken

    def _release(self, link: LinkId, seq: int) -> None:
        while seq and self.store.release(link, seq, RELEASE_PER_CALL):
            pass

    def _fail_closed(self, link: LinkId, error: Exception) -> None:
        MISMATCHES.labels(link=link).inc()
        log.critical(
            "the ledger cannot take the journal, link closed", extra={"link": link, "detail": str(error)}
        )
        facts = msgspec.json.encode({"reason": str(error)}).decode()
        self.store.close_link(link, str(error), facts)
