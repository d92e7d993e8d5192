-- Let go of what the ledger has: journal entries up to a sequence number, and their dedupe records
-- except each table's latest round. What to let go is read from the entries themselves, so a worker
-- that died between its commit and this call leaves nothing behind: the next one releases it.
--
-- A table's latest record outlives its entry; `<table>/kept` names it, so that it goes when a later
-- round takes its place. At most `limit` entries a call, so that bets never wait long: call again
-- until 0.
--
-- @keys tables rounds stream
-- @args ledgered_seq limit
-- @returns released count

local entries = redis.call('XRANGE', KEYS[3], '-', ARGV[1] .. '-0', 'COUNT', ARGV[2])
if #entries == 0 then return 0 end

local function round_of(fields)
  for i = 1, #fields, 2 do
    if fields[i] == 'round' then return string.match(fields[i + 1], '^(.*)/(%d+)$') end
  end
end

local latest, kept, gone = {}, {}, {}
for _, entry in ipairs(entries) do
  local table_id, round = round_of(entry[2])
  if table_id then
    if not latest[table_id] then
      local known = redis.call('HMGET', KEYS[1], table_id, table_id .. '/kept')
      latest[table_id], kept[table_id] = known[1], known[2] or ''
    end
    if kept[table_id] ~= '' then gone[#gone + 1] = table_id .. '/' .. kept[table_id] end
    kept[table_id] = round
    if latest[table_id] ~= round then
      gone[#gone + 1] = table_id .. '/' .. round
      kept[table_id] = ''
    end
  end
end

-- Writes start here.
if #gone > 0 then redis.call('HDEL', KEYS[2], unpack(gone)) end
for table_id, round in pairs(kept) do redis.call('HSET', KEYS[1], table_id .. '/kept', round) end
local last = tonumber(string.match(entries[#entries][1], '^(%d+)'))
return redis.call('XTRIM', KEYS[3], 'MINID', string.format('%.0f-0', last + 1))
