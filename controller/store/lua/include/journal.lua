-- One journal entry: the next number of the link's gapless sequence is also its stream id, so a
-- number can neither be skipped nor used twice. `head` chains every entry to all before it.
local function journal_append(stream, link, kind, round, facts, postings, after)
  local seq = string.format('%.0f', link.seq + 1)
  local at = string.format('%.0f', link.at)
  local head = redis.sha1hex(table.concat(
    {link.head, link.epoch, seq, at, kind, round, facts, postings, after}, '\n'))
  redis.call('XADD', stream, seq .. '-0', 'epoch', link.epoch, 'at', at, 'kind', kind, 'round', round,
             'facts', facts, 'postings', postings, 'after', after, 'head', head)
  link.seq = link.seq + 1
  link.head = head
  return seq, at
end
