-- A table's frontier: before which instant no claim of it can still turn up. Its rounds that are unfinished, or
-- not yet acknowledged to it, are `<table>/open`: `number=lower=closed` each, `lower` by our clock, `closed` as
-- the table said it. Instants are microseconds, exact in a double until the year 2255.
local function frontier_instant(number)
  return string.format('%.0f', number)
end

local function frontier_rounds(text)
  local rounds = {}
  for number, lower, closed in string.gmatch(text or '', '(%d+)=(-?%d+)=(-?%d+)') do
    rounds[#rounds + 1] = {number = tonumber(number), lower = tonumber(lower), closed = tonumber(closed)}
  end
  return rounds
end

local function frontier_text(rounds)
  local parts = {}
  for i, round in ipairs(rounds) do
    parts[i] = string.format('%.0f=%.0f=%.0f', round.number, round.lower, round.closed)
  end
  return table.concat(parts, ';')
end

-- What is known of a table's time and contact, and what the House has decided about it. Without a measured clock its times are taken with the uncertainty
-- that the link's policy gives to clocks that were never compared.
local function frontier_load(tables_key, id, unmeasured)
  local f = redis.call('HMGET', tables_key, id .. '/contact', id .. '/lost', id .. '/offset', id .. '/uncertainty',
                       id .. '/open', id .. '/base', id .. '/live', id .. '/beat', id .. '/measured_at',
                       id .. '/suspension', id .. '/boxes_off')
  return {id = id, contact = tonumber(f[1] or '0'), lost = tonumber(f[2] or '0'),
          measured = f[3] and f[3] ~= '', offset = tonumber(f[3] or '') or 0,
          uncertainty = tonumber(f[4] or '') or unmeasured, open = frontier_rounds(f[5]),
          base = tonumber(f[6] or '0'), live = f[7] == '1', beat = tonumber(f[8] or '0'), measured_at = tonumber(f[9] or '0'),
          suspension = f[10] or '', boxes_off = f[11] or ''}
end

-- Clocks drift: what was measured a while ago is less sure now, by a hundred parts in a million.
local function frontier_uncertainty(state, now)
  if not state.measured then return state.uncertainty end
  return state.uncertainty + math.ceil(math.max(0, now - state.measured_at) / 10000)
end

-- No hand of a round was dealt before this, by our clock; and certainly not before it reaches us that bets are closed.
local function frontier_lower(state, closed_at, now)
  return math.min(closed_at + state.offset - frontier_uncertainty(state, now), now)
end

-- A message has come. A silence longer than the grace was a loss of contact.
local function frontier_touch(state, now, grace)
  if state.contact > 0 and now - state.contact > grace then state.lost = state.contact end
  state.contact = now
  state.live = true
end

local function frontier_save(tables_key, state)
  local id = state.id
  redis.call('HSET', tables_key, id .. '/contact', frontier_instant(state.contact),
             id .. '/lost', frontier_instant(state.lost), id .. '/open', frontier_text(state.open),
             id .. '/base', frontier_instant(state.base), id .. '/live', state.live and '1' or '0')
end

-- A round is finished: what it vouched for, the table now does without it.
local function frontier_close(state, number)
  local left = {}
  for _, round in ipairs(state.open) do
    if round.number ~= number then
      left[#left + 1] = round
    elseif round.lower > state.base then
      state.base = round.lower
    end
  end
  state.open = left
end
