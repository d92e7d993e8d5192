"""The rules of the four games: pure functions that cite the paragraph which decided."""
