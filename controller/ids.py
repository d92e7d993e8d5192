"""Names of things, typed so that a table can never be passed where a link is meant."""

from typing import NewType

LinkId = NewType("LinkId", str)
MeterId = NewType("MeterId", str)
TableId = NewType("TableId", str)

UNLINKED = LinkId("unlinked")
"""The link of tables that share no jackpot: their rounds are journaled like any other."""
