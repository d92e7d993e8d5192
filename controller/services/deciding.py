"""Deciding about wins: look at the link, decide, make it true; again if the link has changed meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic, sleep

from controller.clock import INSTANT_MAX, to_micros
from controller.errors import Code, FieldProblem, Refused
from controller.ids import LinkId
from controller.jackpots.book import Decided
from controller.jackpots.policy import Policy
from controller.jackpots.state import LinkState
from controller.services.floor_in_force import FloorInForce, KnownFloor
from controller.services.rounds import Nudge
from controller.store.link_store import LinkStore
from controller.store.win_store import Done, WinStore

LOOKS = 20
"""How often a link may change under our eyes before we ask the caller to try again."""
_PAUSE_SECONDS = 0.005

Decide = Callable[[LinkState, Policy], Decided | None]


def bounded(instant: datetime, field: str) -> int:
    """An instant in microseconds, within the years that every part of the product can write."""
    micros = to_micros(instant)
    if not 0 <= micros <= INSTANT_MAX:
        detail = f"{field}: expected a time from 1970 to 9998"
        raise Refused(Code.BODY_INVALID, detail, [FieldProblem(field, Code.BODY_INVALID, detail)])
    return micros


@dataclass(frozen=True, slots=True)
class Deciding:
    """Makes decisions true, once each."""

    floor: FloorInForce
    store: LinkStore
    wins: WinStore
    nudge: Nudge
    ledger_seconds: float = 0.0
    """How long an answer waits for the ledger before it says that it has not been reached."""

    def decide(self, link: LinkId, decide: Decide) -> Done | None:
        """Make a decision from the link as it is; None where there is nothing to decide."""

        def attempt(known: KnownFloor) -> tuple[Done | None, bool]:
            if link not in known.floor.link_ids:
                raise Refused(Code.LINK_UNKNOWN, f"link: there is no link {link!r} on this floor")
            decided = decide(self.wins.state(link), known.floor.policy_of(link))
            if decided is None:
                return None, True
            done = self.wins.apply(known.address(link), decided)
            return done, done is not None

        for _ in range(LOOKS):
            done, over = self.floor.with_floor(attempt)
            if over:
                if done is not None:
                    self.nudge(link)
                return done
        raise Refused(Code.ROUND_CHANGING, "the link is changing; send the same request again")

    def is_ledgered(self, link: LinkId, seq: int, *, wait: bool = True) -> bool:
        """Wait until the ledger has an entry; False where it does not in time."""
        deadline = monotonic() + (self.ledger_seconds if wait else 0)
        while self.store.released(link) < seq:
            if monotonic() > deadline:
                return False
            self.nudge(link)
            sleep(_PAUSE_SECONDS)
        return True
