"""The data dictionary: every Redis key, its type and its meaning. No other module builds a key.

All keys of a link carry the same hash tag, so one script may touch them on Redis Cluster.
"""

from dataclasses import dataclass

from controller.ids import LinkId


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """The keys of one link."""

    tag: str

    @classmethod
    def of(cls, link: LinkId) -> "LinkKeys":
        """The keys of a link by its name."""
        return cls("{jp:" + link + "}")

    @property
    def link(self) -> str:
        """HASH: epoch, definition, status, reason, seq, at, head, released, version (the last
        entry that decided about wins), bet_cents, meters (ordered), suspension, notices."""
        return f"{self.tag}:link"

    @property
    def meters(self) -> str:
        """HASH per `<meter>/`: value, overflow, reserve, owed, cap, reset (micro-cents), rates, cycle,
        status; registrations that wait (`claim=seq=value;…`), waiting (the claims for signs),
        last_settlement, settled_to, won_through, effect_seq and shown_before (what signs show until the
        ledger has that entry)."""
        return f"{self.tag}:meters"

    @property
    def tables(self) -> str:
        """HASH: `<table>` its highest recorded round; `<table>/kept` the ledgered one whose record stays; its
        presence: live, contact, lost, base, open, beat, offset, uncertainty, released (include/frontier.lua);
        what the House decided: suspension, boxes_off, notice."""
        return f"{self.tag}:tables"

    @property
    def rounds(self) -> str:
        """HASH: `<table>/<round>` the recorded bets, until the ledger has them and a later round came;
        `<table>/<round>/result`, `/void` and `/returns` how the round or single boxes ended."""
        return f"{self.tag}:rounds"

    @property
    def claims(self) -> str:
        """HASH: `<claim>` the claim, trigger or envy award as a document, until it is final."""
        return f"{self.tag}:claims"

    @property
    def alarms(self) -> str:
        """HASH: `<subject>` the sequence number of its open alarm."""
        return f"{self.tag}:alarms"

    @property
    def stream(self) -> str:
        """STREAM: the journal entries that the ledger may not have yet; the id is the sequence number."""
        return f"{self.tag}:journal"

    @property
    def nudge(self) -> str:
        """STRING with expiry: a drain of this link has been asked for and has not begun."""
        return f"{self.tag}:nudge"
