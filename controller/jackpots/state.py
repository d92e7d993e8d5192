"""A link as the store holds it at one instant: what decisions about wins are made from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from controller.jackpots.amounts import Pot, parse_registrations
from controller.jackpots.claims import Claim, Kind, read_claim
from controller.jackpots.watermark import TableState, parse_tables


@dataclass(frozen=True, slots=True)
class LinkState:
    """Meters, tables and claims of a link, at one version."""

    epoch: int
    version: int
    """The number of the last entry that decided anything about wins: bets do not move it."""
    seq: int
    at: int
    read_at: int
    """The store's clock at that instant."""
    released: int
    """Up to here the ledger has the journal, and maybe further."""
    status: str
    suspension: str
    notices: Mapping[str, str]
    """What signs say, by table; about the link itself under no name."""
    pots: Mapping[str, Pot]
    tables: Mapping[str, TableState]
    claims: Mapping[str, Claim]

    def pending(self, meter: str) -> list[Claim]:
        """The majors that wait on a meter."""
        return [c for c in self.claims.values() if c.kind is Kind.MAJOR and c.meter == meter and c.pending]

    def of_round(self, table: str, number: int) -> list[Claim]:
        """What the store holds of one round's claims."""
        return [c for c in self.claims.values() if c.table == table and c.round == number]


read_notices = msgspec.json.Decoder(dict[str, str]).decode


def parse_state(
    now: int,
    link: Mapping[str, str],
    meters: Mapping[str, str],
    tables: Mapping[str, str],
    claims: Mapping[str, str],
) -> LinkState:
    """Read the store's hashes."""
    documents = {name: read_claim(text) for name, text in claims.items()}
    return LinkState(
        epoch=int(link["epoch"]),
        version=int(link.get("version", "0")),
        seq=int(link["seq"]),
        at=int(link["at"]),
        read_at=now,
        released=int(link.get("released", "0")),
        status=link["status"],
        suspension=link.get("suspension", ""),
        notices=read_notices(link.get("notices") or "{}"),
        pots={pot.id: pot for pot in parse_pots(link["meters"].split(","), meters)},
        tables=parse_tables(tables),
        claims=documents,
    )


def parse_pots(ids: Iterable[str], fields: Mapping[str, str]) -> Iterable[Pot]:
    """The meters of a link from the store's hash, in the floor's order."""
    for name in filter(None, ids):
        cap = fields.get(f"{name}/cap", "")
        yield Pot(
            id=name,
            value=int(fields[f"{name}/value"]),
            overflow=int(fields[f"{name}/overflow"]),
            reserve=int(fields[f"{name}/reserve"]),
            owed=int(fields.get(f"{name}/owed", "0")),
            reset=int(fields[f"{name}/reset"]),
            cap=int(cap) if cap else None,
            cycle=int(fields[f"{name}/cycle"]),
            registrations=parse_registrations(fields.get(f"{name}/registrations", "")),
            settled_to=int(fields.get(f"{name}/settled_to", "0")),
            won_through=int(fields.get(f"{name}/won_through", "0")),
            last_settlement=fields.get(f"{name}/last_settlement", ""),
            shown_before=fields.get(f"{name}/shown_before", ""),
            effect_seq=int(fields.get(f"{name}/effect_seq", "0")),
        )
