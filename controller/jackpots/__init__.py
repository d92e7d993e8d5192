"""Wins: claims, the order of the deal, what each is paid, and who decides. Pure: no I/O, no clock."""
