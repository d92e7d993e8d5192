"""How rounds end: results and voids, checked against the recorded bets and settled by the games' rules."""
