-- How a round ended is recorded once, under `<table>/<round>/<kind>`. While the round's own record is here,
-- so is its end; otherwise the caller must have looked at the ledger as far as entries were let go.
local function round_end_unseen(link, bets_record, ledgered_seq)
  return not bets_record and link.released > tonumber(ledgered_seq)
end

local function round_end_known(known, body_hash)
  local same = string.sub(known, 1, #body_hash) == body_hash
  return {same and 'replayed' or 'exists_with_different_body', known}
end

local function round_end_record(body_hash, link, seq, at, after, facts)
  return table.concat({body_hash, link.epoch, seq, at, link.head, after, facts}, '\n')
end

-- The number of the last entry that gave a box's bets back, '' for none.
local function round_end_returns(returns)
  return returns and string.match(string.match(returns, '([^\r]*)$'), '^[^\n]*\n[^\n]*\n(%d+)') or ''
end

-- '1' where the store holds a claim of the round. No layout has more than twelve boxes.
local function round_end_claimed(claims_key, table_id, number)
  local names = {}
  for box = 1, 12 do names[box] = string.format('%s.%s.%d', table_id, number, box) end
  for _, found in ipairs(redis.call('HMGET', claims_key, unpack(names))) do
    if found then return '1' end
  end
  return '0'
end
