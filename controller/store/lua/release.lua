-- Let go of what the ledger has: journal entries up to a sequence number, and their dedupe records
-- except those of each table's latest round. What to let go is read from the entries themselves, so a
-- worker that died between its commit and this call leaves nothing behind: the next one releases it.
--
-- A table's latest record outlives its entry; `<table>/kept` names it, so that it goes when a later
-- round takes its place. How a round ended goes with its bets, unless the ledger does not have it yet:
-- then it goes with its own entry. `released` on the link tells how far a caller must look in the ledger.
-- At most `limit` entries a call, so that bets never wait long: call again until 0.
--
-- @keys link tables rounds stream
-- @args ledgered_seq limit
-- @returns released count

local entries = redis.call('XRANGE', KEYS[4], '-', ARGV[1] .. '-0', 'COUNT', ARGV[2])
if #entries == 0 then return 0 end
local last = tonumber(string.match(entries[#entries][1], '^(%d+)'))

local function read(fields)
  local kind, round
  for i = 1, #fields, 2 do
    if fields[i] == 'kind' then kind = fields[i + 1] end
    if fields[i] == 'round' then round = fields[i + 1] end
  end
  return kind, string.match(round, '^(([^/]+)/(%d+))')
end

local latest, kept, gone = {}, {}, {}
local function know(table_id)
  if latest[table_id] then return end
  local known = redis.call('HMGET', KEYS[2], table_id, table_id .. '/kept')
  latest[table_id], kept[table_id] = known[1] or '', known[2] or ''
end

-- One way in which a round ended goes if the last of its records is among those that are let go of.
local function let_go_end(field)
  local text = redis.call('HGET', KEYS[3], field)
  local seq = text and tonumber(string.match(text, '([^\r]*)$'):match('^[^\n]*\n[^\n]*\n(%d+)'))
  if seq and seq <= last then gone[#gone + 1] = field end
end

-- A round's bets go, and with them each way it ended that this call or an earlier one has let go of.
local function let_go(field)
  gone[#gone + 1] = field
  for suffix in string.gmatch('/result /void /returns', '%S+') do let_go_end(field .. suffix) end
end

local SUFFIX = {result_recorded = '/result', round_voided = '/void', box_returned = '/returns'}
for _, entry in ipairs(entries) do
  local kind, field, table_id, round = read(entry[2])
  if table_id then
    know(table_id)
    if kind == 'bets_recorded' or kind == 'late_bets_recorded' then
      if kept[table_id] ~= '' then let_go(table_id .. '/' .. kept[table_id]) end
      kept[table_id] = round
      if latest[table_id] ~= round then
        let_go(field)
        kept[table_id] = ''
      end
    elseif SUFFIX[kind] and kept[table_id] ~= round then
      let_go_end(field .. SUFFIX[kind])
    end
  end
end

-- Writes start here.
if #gone > 0 then redis.call('HDEL', KEYS[3], unpack(gone)) end
for table_id, round in pairs(kept) do redis.call('HSET', KEYS[2], table_id .. '/kept', round) end
redis.call('HSET', KEYS[1], 'released', string.format('%.0f', last))
return redis.call('XTRIM', KEYS[4], 'MINID', string.format('%.0f-0', last + 1))
