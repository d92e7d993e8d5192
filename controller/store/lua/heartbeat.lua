-- A table says that it is alive, which rounds of it are unfinished or not acknowledged, and what its clock showed.
-- Moves no money and is not journaled: a settlement names the frontiers that it relied on.
--
-- A heartbeat that was overtaken by a newer one is ignored, and none closes a round newer than itself.
--
-- @keys link tables
-- @args epoch definition table sent_at offset uncertainty unmeasured grace count
-- @rest per round: number lower_by_our_clock bets_closed_at (offset and uncertainty '' for no new measurement)
-- @returns {'taken' or 'overtaken', now, highest, seq}
-- @returns {'link_missing'} | {'stale', epoch, definition}
-- @include link frontier

local link = link_load(KEYS[1])
if not link then return {'link_missing'} end
if link.epoch ~= ARGV[1] or link.definition ~= ARGV[2] then return {'stale', link.epoch, link.definition} end
local sent_at = tonumber(ARGV[4])
local state = frontier_load(KEYS[2], ARGV[3], tonumber(ARGV[7]))
local highest = tonumber(redis.call('HGET', KEYS[2], ARGV[3]) or '0')
link_tick(link)
local answer = {'taken', frontier_instant(link.at), frontier_instant(highest), frontier_instant(link.seq)}
if sent_at <= state.beat then
  answer[1] = 'overtaken'
  return answer
end

local known, open = {}, {}
for _, round in ipairs(state.open) do
  known[round.number] = round
  if round.closed > sent_at then open[#open + 1] = round end
end
for i = 1, tonumber(ARGV[9]) do
  local base = 9 + (i - 1) * 3
  local number = tonumber(ARGV[base + 1])
  local round = known[number]
  -- One that we have and that is not open any more has been finished: its result has overtaken this message.
  if not round and number > highest then
    round = {number = number, lower = tonumber(ARGV[base + 2]), closed = tonumber(ARGV[base + 3])}
  end
  if round and round.closed <= sent_at then open[#open + 1] = round end
end

-- Writes start here.
state.open = open
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[2], ARGV[3] .. '/offset', ARGV[5], ARGV[3] .. '/uncertainty', ARGV[6])
  state.measured, state.offset, state.uncertainty = true, tonumber(ARGV[5]), tonumber(ARGV[6])
end
local vouched = state.measured and sent_at + state.offset or math.min(sent_at, link.at)
state.base = math.min(vouched - state.uncertainty, link.at)
frontier_touch(state, link.at, tonumber(ARGV[8]))
redis.call('HSET', KEYS[2], ARGV[3] .. '/beat', frontier_instant(sent_at))
frontier_save(KEYS[2], state)
return answer
