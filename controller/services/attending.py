"""What workers do for a link's wins: settle what is due, award envy bonuses, notice what is not paid."""

from dataclasses import dataclass

from controller.clock import to_text
from controller.ids import LinkId
from controller.jackpots.book import Decided
from controller.jackpots.claims import Status
from controller.jackpots.house import award_envy, award_minor
from controller.jackpots.policy import Policy
from controller.jackpots.registering import Alarming
from controller.jackpots.settling import finished, settle_due
from controller.jackpots.state import LinkState
from controller.services.alarms import raise_alarms
from controller.services.deciding import Deciding
from controller.store.win_store import Done


@dataclass(frozen=True, slots=True)
class Attending:
    """Steps of one link; each may be repeated, and any number of workers may take them at once."""

    deciding: Deciding

    def step(self, link: LinkId, ledgered_seq: int) -> Done | None:
        """Settle one meter or award one bonus, whatever is due first; None where nothing is.

        No award is made from what the ledger does not have: while SQL is down, claims wait and bets go on.
        """
        if link not in self.deciding.floor.known().floor.links_by_id:
            return None

        def decide(state: LinkState, policy: Policy) -> Decided | None:
            if state.version > ledgered_seq or state.status == "closed":
                return None
            return settle_due(state, policy) or award_minor(state, policy) or award_envy(state, policy)

        return self.deciding.decide(link, decide)

    def forget(self, link: LinkId, ledgered_seq: int) -> None:
        """Let go of claims that are final and that the ledger answers for."""
        state = self.deciding.wins.state(link)
        done = finished(state) if state.version <= ledgered_seq and state.status != "closed" else []
        if done:
            address = self.deciding.floor.known().address(link)
            self.deciding.wins.forget(address, state.version, done)

    def watch(self, link: LinkId, awarded_at: dict[str, int], raised: set[str]) -> None:
        """Raise an alarm, once, for each award that nobody has paid within the link's limit."""
        known = self.deciding.floor.known()
        if link not in known.floor.links_by_id:
            return
        state = self.deciding.wins.state(link)
        found = _unpaid(state, known.floor.policy_of(link), awarded_at)
        raise_alarms(self.deciding.store, link, [alarm for alarm in found if alarm.subject not in raised])


def _unpaid(state: LinkState, policy: Policy, awarded_at: dict[str, int]) -> list[Alarming]:
    limit = policy.unpaid_alarm_seconds * 1_000_000
    return [
        Alarming(f"unpaid/{c.id}", f"claim {c.id} was awarded at {to_text(awarded_at[c.id])} and is not paid")
        for c in state.claims.values()
        if c.status is Status.AWARDED and c.id in awarded_at and state.read_at - awarded_at[c.id] > limit
    ]
