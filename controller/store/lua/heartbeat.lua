-- A table says that it is alive, which rounds of it are unfinished or not acknowledged, and what its clock showed.
-- Moves no money and is not journaled: a settlement names the frontiers that it relied on.
--
-- A heartbeat that was overtaken by a newer one is ignored, and none closes a round newer than itself.
--
-- @keys link tables
-- @args epoch definition table sent_at offset uncertainty unmeasured grace count
-- @rest per round: number bets_closed_at (offset and uncertainty are '' for no new measurement)
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

if ARGV[5] ~= '' then
  state.measured, state.offset, state.uncertainty = true, tonumber(ARGV[5]), tonumber(ARGV[6])
  state.measured_at = link.at
end
local uncertainty = frontier_uncertainty(state, link.at)
-- Sent in our future: the clock has been set since it was measured. What it says is worth nothing until the next time.
local wild = sent_at + state.offset - uncertainty > link.at
if wild then state.measured, state.offset, uncertainty = false, 0, tonumber(ARGV[7]) end

local known, open = {}, {}
for _, round in ipairs(state.open) do
  known[round.number] = round
  round.lower = frontier_lower(state, round.closed, link.at)
  if round.closed > sent_at then open[#open + 1] = round end
end
for i = 1, tonumber(ARGV[9]) do
  local base = 9 + (i - 1) * 2
  local number = tonumber(ARGV[base + 1])
  local round = known[number]
  -- One that we have and that is not open any more has been finished: its result has overtaken this message.
  if not round and number > highest then
    local closed = tonumber(ARGV[base + 2])
    round = {number = number, lower = frontier_lower(state, closed, link.at), closed = closed}
  end
  if round and round.closed <= sent_at then open[#open + 1] = round end
end

-- Writes start here.
state.open = open
if wild then
  redis.call('HDEL', KEYS[2], ARGV[3] .. '/offset', ARGV[3] .. '/uncertainty')
else
  redis.call('HSET', KEYS[2], ARGV[3] .. '/beat', frontier_instant(sent_at))
  if ARGV[5] ~= '' then
    redis.call('HSET', KEYS[2], ARGV[3] .. '/offset', ARGV[5], ARGV[3] .. '/uncertainty', ARGV[6],
               ARGV[3] .. '/measured_at', frontier_instant(link.at))
  end
end
state.base = math.min(sent_at + state.offset, link.at) - uncertainty
frontier_touch(state, link.at, tonumber(ARGV[8]))
frontier_save(KEYS[2], state)
return answer
