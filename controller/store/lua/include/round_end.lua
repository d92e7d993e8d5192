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
