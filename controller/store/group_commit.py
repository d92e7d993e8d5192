"""Group commit: what arrives while one script call is under way travels together in the next.

Redis flushes to disk once per batch of commands, and a client call costs more than the script it
carries. So threads do not queue for the connection one by one: the first becomes the leader and
carries everybody's rounds; those who come meanwhile wait for its return and then one of them leads.
Nobody ever waits for a timer.
"""

from threading import Lock
from typing import Protocol

from controller.betting.locked_bets import LockedRound
from controller.ids import LinkId
from controller.jackpots.policy import Policy
from controller.store.link_store import ROUNDS_PER_CALL, RoundOutcome


class Contributions(Protocol):
    """Where rounds are recorded."""

    def contribute(
        self,
        link: LinkId,
        epoch: int,
        definition: str,
        groups: list[list[LockedRound]],
        policy: Policy,
    ) -> list[list[RoundOutcome]]:
        """Record groups of rounds in one atomic step."""


class _Ticket:
    """One request's rounds, and the place where its thread sleeps."""

    __slots__ = ("error", "gate", "leads", "outcomes", "rounds")

    def __init__(self, rounds: list[LockedRound]) -> None:
        self.rounds = rounds
        self.outcomes: list[RoundOutcome] | None = None
        self.error: BaseException | None = None
        self.leads = False
        self.gate = Lock()
        self.gate.acquire()


class _Lane:
    """Requests for one link under one definition."""

    def __init__(
        self, store: Contributions, policy: Policy, link: LinkId, epoch: int, definition: str
    ) -> None:
        self._store = store
        self._policy = policy
        self._call = (link, epoch, definition)
        self._lock = Lock()
        self._waiting: list[_Ticket] = []
        self._led = False

    def submit(self, rounds: list[LockedRound]) -> list[RoundOutcome]:
        """Record these rounds together with whoever else is waiting."""
        ticket = _Ticket(rounds)
        with self._lock:
            self._waiting.append(ticket)
            ticket.leads = not self._led
            self._led = True
        if not ticket.leads:
            ticket.gate.acquire()
        if ticket.leads:
            self._lead()
        if ticket.error is not None:
            raise ticket.error
        if ticket.outcomes is None:
            raise RuntimeError("a round left the group commit without an outcome")
        return ticket.outcomes

    def _lead(self) -> None:
        with self._lock:
            batch = self._take()
        try:
            results = self._store.contribute(*self._call, [ticket.rounds for ticket in batch], self._policy)
            for ticket, outcomes in zip(batch, results, strict=True):
                ticket.outcomes = outcomes
        except BaseException as error:  # noqa: BLE001 - handed to every thread that waits for it
            for ticket in batch:
                ticket.error = error
        with self._lock:
            heir = self._waiting[0] if self._waiting else None
            self._led = heir is not None
        if heir is not None:
            heir.leads = True
            heir.gate.release()
        for ticket in batch:
            if not ticket.leads:
                ticket.gate.release()

    def _take(self) -> list[_Ticket]:
        """The longest prefix of waiting requests that fits one call; the leader is always first."""
        taken, size = 0, 0
        for ticket in self._waiting:
            size += len(ticket.rounds)
            if taken and size > ROUNDS_PER_CALL:
                break
            taken += 1
        batch, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return batch


class GroupCommit:
    """One lane per link and definition. A definition that is no longer in force leaves an idle lane."""

    def __init__(self, store: Contributions) -> None:
        self._store = store
        self._lanes: dict[tuple[LinkId, int, str], _Lane] = {}
        self._lock = Lock()

    def submit(
        self, link: LinkId, epoch: int, definition: str, rounds: list[LockedRound], policy: Policy
    ) -> list[RoundOutcome]:
        """Record the rounds of one request, in order, in one atomic step with others."""
        key = (link, epoch, definition)
        lane = self._lanes.get(key)
        if lane is None:
            with self._lock:
                lane = self._lanes.setdefault(key, _Lane(self._store, policy, *key))
        return lane.submit(rounds)
