"""What a meter keeps of its last settlements, so that they can be undone."""

import msgspec

from controller.jackpots.amounts import Registration

replace = msgspec.structs.replace


class SettledRecord(msgspec.Struct, frozen=True):
    """What it takes to undo a settlement."""

    claims: list[str]
    used: list[Registration]
    value: int
    overflow: int
    reserve: int
    owed: int
    cycle: int
    settled_to: int
    won_through: int
    previous: "SettledRecord | None" = None
    """The settlement before it, which can be undone when this one has been."""

    def claims_of_all(self) -> set[str]:
        """Every claim that undoing could still bring back."""
        return {*self.claims, *(self.previous.claims_of_all() if self.previous else ())}


UNDO_DEPTH = 5
"""How many settlements of a meter can be undone, one after the other."""


def cut_record(record: SettledRecord | None, depth: int) -> SettledRecord | None:
    """A record with no more than so many behind it."""
    if record is None or depth == 0:
        return None
    return replace(record, previous=cut_record(record.previous, depth - 1))


read_settled = msgspec.json.Decoder(SettledRecord).decode
