"""Names of things, typed so that a meter can never be passed where a link is meant."""

from typing import NewType

LinkId = NewType("LinkId", str)
MeterId = NewType("MeterId", str)

UNLINKED = LinkId("unlinked")
"""The link of tables that share no jackpot: their rounds are journaled like any other."""
