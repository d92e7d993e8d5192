"""A decision as the store applies it: operations of store/lua/include/change.lua, and the facts."""

from collections.abc import Sequence

import msgspec

from controller.errors import LedgerMismatch
from controller.jackpots.amounts import Registration, format_registrations
from controller.jackpots.claims import Claim, write_claim


class Change:
    """Gathers operations; refuses to be sent while its postings do not sum to zero."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._count = 0
        self._sum = 0
        self.claims: list[Claim] = []
        """The claims as they are after it: journaled with it, so that the ledger can show them."""

    def claim(self, claim: Claim) -> None:
        """A claim as it is from now on. The store keeps it while its round may still be heard of."""
        self.note(claim)
        self._add("doc", claim.id, write_claim(claim).decode())

    def note(self, claim: Claim) -> None:
        """A claim that begins and ends with this entry: the journal keeps it, the store need not."""
        self.claims = [known for known in self.claims if known.id != claim.id] + [claim]

    def table(self, table: str, field: str, text: str) -> None:
        """A field of a table; no text removes it."""
        self._add("table", f"{table}/{field}", text)

    def link(self, field: str, text: str) -> None:
        """A field of the link itself."""
        self._add("link", field, text)

    def meter(self, meter: str, field: str, text: str) -> None:
        """A field of a meter."""
        self._add("meter", f"{meter}/{field}", text)

    def registrations(self, meter: str, registrations: Sequence[Registration]) -> None:
        """What still waits on a meter."""
        self.meter(meter, "registrations", format_registrations(registrations))

    def register(self, meter: str, claim: str) -> None:
        """Note a registration, and freeze the meter if it is the first."""
        self._add("register", meter, claim)

    def effect(self, meter: str, shown_before: str) -> None:
        """Signs show something else, once the ledger has this entry; until then what they showed before."""
        self._add("effect", meter, shown_before)

    def thaw(self, meter: str, frozen_value: int) -> None:
        """Let the meter run on."""
        self._add("thaw", meter, str(frozen_value))

    def move(self, meter: str, account: str, difference: int) -> None:
        """Change one of a meter's accounts: value, overflow, reserve or owed."""
        if difference:
            self._sum += -difference if account == "owed" else difference
            self._add("move", meter, account, str(difference))

    def post(self, account: str, difference: int) -> None:
        """Change an account without a meter."""
        if difference:
            self._sum += difference
            self._add("post", account, str(difference))

    def balance(self, account: str) -> None:
        """Post to an account what makes the change sum to zero."""
        self.post(account, -self._sum)

    def take_back(self, meter: str, owed: int, overflow: int, reserve: int, seq: int) -> None:
        """Undo the split of bets that entry `seq` recorded."""
        self._sum -= owed + overflow + reserve
        self._add("take_back", meter, str(owed), str(overflow), str(reserve), str(seq))

    def close_round(self, table: str, number: int) -> None:
        """A round is finished: it holds no claim back any more."""
        self._add("close_round", table, str(number))

    def close_table(self, table: str) -> None:
        """The table is not live any more; refused while a round of it is open."""
        self._add("close_table", table)

    def _add(self, *words: str) -> None:
        self._count += 1
        self._words += words

    def words(self) -> list[str]:
        """The operations for the script."""
        if self._sum:
            raise LedgerMismatch(f"a change whose postings sum to {self._sum}")
        return [str(self._count), *self._words]


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the journal keeps of a decision about wins."""

    by: list[str] = []
    reason: str = ""
    detail: dict[str, object] = {}
    claims: list[Claim] = []


def decision_text(change: Change, by: list[str], reason: str, detail: dict[str, object]) -> str:
    """The facts of a decision, with the claims that it changed."""
    facts = Decision(by=by, reason=reason, detail=detail, claims=change.claims)
    return msgspec.json.encode(facts).decode()
