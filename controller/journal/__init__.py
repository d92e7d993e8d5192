"""The journal: what each atomic step did, in the link's own gapless order."""
