"""Locked bets: what a table reports at 'no more bets', and what of it counts."""
