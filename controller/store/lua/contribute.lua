-- Take the locked progressive bets of one or more rounds: dedupe, split, meters, journal, in one step.
--
-- Rounds of several tables travel together (group commit). Rounds with the same group came in one
-- request: after the first refusal the rest of that group is not attempted; other groups go on.
--
-- @keys link meters tables rounds stream
-- @args epoch definition count grace unmeasured
-- @rest per round: group table round body_hash progressive_bets closed_at boxes facts
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- A round that was open when its table lost contact is journaled as late_bets_recorded.
-- @returns {'done', per round {outcome, record}}; a round recorded now is answered without its facts
-- @outcomes recorded replayed exists_with_different_body round_number_passed round_number_too_far
-- @outcomes meter_limit_reached not_attempted table_was_offline table_suspended box_suspended progressive_suspended
-- @emits bets_recorded
-- @include exact link journal frontier intake

local link_key, meters_key, tables_key, rounds_key, stream_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local link = link_load(link_key)
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
local count, grace, unmeasured = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local NAMED, WIDTH = 5, 8
-- Numbers only rise and end at 2^53: one wild jump must not use up a table's.
local ROUNDS_AHEAD = 10000000000

-- What is known of these tables and rounds.
local table_fields, round_fields = {}, {}
for i = 1, count do
  local base = NAMED + (i - 1) * WIDTH
  table_fields[i] = ARGV[base + 2]
  round_fields[i] = ARGV[base + 2] .. '/' .. ARGV[base + 3]
end
local highest, record_of, states = {}, {}, {}
local known_highest = redis.call('HMGET', tables_key, unpack(table_fields))
local known_records = redis.call('HMGET', rounds_key, unpack(round_fields))
for i = 1, count do
  highest[table_fields[i]] = tonumber(known_highest[i] or '0')
  record_of[round_fields[i]] = known_records[i]
  if not states[table_fields[i]] then
    states[table_fields[i]] = frontier_load(tables_key, table_fields[i], unmeasured)
  end
end

-- The link's meters, in the order in which the floor names them.
local settings = redis.call('HMGET', link_key, 'bet_cents', 'meters', 'suspension')
local bet_cents = tonumber(settings[1])
local meters = {}
for id in string.gmatch(settings[2], '[^,]+') do
  local f = redis.call('HMGET', meters_key, id .. '/value', id .. '/overflow', id .. '/cap',
                       id .. '/rate_ppm', id .. '/reserve_ppm', id .. '/reserve', id .. '/owed',
                       id .. '/registrations')
  meters[#meters + 1] = {
    id = id, value = exact_parse(f[1]), overflow = exact_parse(f[2]),
    cap = f[3] ~= '' and exact_parse(f[3]) or nil,
    rate_ppm = tonumber(f[4]), reserve_ppm = tonumber(f[5]), reserve = exact_parse(f[6]),
    owed = exact_parse(f[7] or '0'), frozen = string.match(f[8] or '', '^[^=]+=%d+=(%d+)')}
end

-- How one round's bets divide. Nothing is rounded: cents x parts per million are whole micro-cents.
local function split(bets)
  local staked_cents = bets * bet_cents
  local rest = {staked_cents, 0}
  local shares = {}
  for m, meter in ipairs(meters) do
    local contribution = exact_share(staked_cents, meter.rate_ppm)
    local reserve = exact_share(staked_cents, meter.reserve_ppm)
    -- What the meter owes for bets that went back is repaid before the sign moves on. While a win waits, all of
    -- it accrues, beyond the cap, too: what it is for is decided when the win is settled or rejected.
    local repaid = exact_less(meter.owed, contribution) and meter.owed or contribution
    if meter.frozen then repaid = {0, 0} end
    local room = meter.cap and not meter.frozen and exact_sub(meter.cap, meter.value) or nil
    local to_value, to_overflow = exact_sub(contribution, repaid), {0, 0}
    if room and exact_less(room, to_value) then
      to_value, to_overflow = room, exact_sub(to_value, room)
    end
    rest = exact_sub(exact_sub(rest, contribution), reserve)
    shares[m] = {value = exact_add(meter.value, to_value), to_value = to_value,
                 overflow = exact_add(meter.overflow, to_overflow), to_overflow = to_overflow,
                 reserve = exact_add(meter.reserve, reserve), to_reserve = reserve,
                 owed = exact_sub(meter.owed, repaid), repaid = repaid}
  end
  return {staked = {staked_cents, 0}, house = rest, meters = shares}
end

local function fits(division)
  for _, share in ipairs(division.meters) do
    if math.max(share.value[1], share.overflow[1], share.reserve[1]) > EXACT_MAX_CENTS then return false end
  end
  return true
end

local function postings_of(division)
  local lines = {}
  local function post(account, sign, amount)
    if not exact_is_zero(amount) then lines[#lines + 1] = account .. '=' .. sign .. exact_format(amount) end
  end
  post('bets', '-', division.staked)
  for m, share in ipairs(division.meters) do
    post('owed/' .. meters[m].id, '', share.repaid)
    post('meter/' .. meters[m].id, '', share.to_value)
    post('overflow/' .. meters[m].id, '', share.to_overflow)
    post('reserve/' .. meters[m].id, '', share.to_reserve)
  end
  post('house', '', division.house)
  return table.concat(lines, ';')
end

local function apply(division)
  local after = {}
  for m, share in ipairs(division.meters) do
    local meter = meters[m]
    meter.value, meter.overflow, meter.reserve, meter.owed = share.value, share.overflow, share.reserve, share.owed
    after[#after + 1] = meter.id .. '=' .. exact_format(meter.value)
    if meter.frozen then after[#after + 1] = 'shown/' .. meter.id .. '=' .. meter.frozen end
  end
  return table.concat(after, ';')
end

-- Writes start here. An entry goes into the stream before any hash is touched: an append that Redis
-- refuses (a sequence gone back) must leave no trace.
link_tick(link)
local answers, stopped = {}, {}
local new_rounds, new_highest = {}, {}
for i = 1, count do
  local base = NAMED + (i - 1) * WIDTH
  local group, table_id, round = ARGV[base + 1], ARGV[base + 2], tonumber(ARGV[base + 3])
  local body_hash, bets, closed_at = ARGV[base + 4], tonumber(ARGV[base + 5]), tonumber(ARGV[base + 6])
  local boxes, facts = ARGV[base + 7], ARGV[base + 8]
  local field = round_fields[i]
  local known = record_of[field]
  local state = states[table_id]
  local late = intake_lateness(state, link.at, grace, round, highest[table_id], closed_at)
  local refused = intake_suspended(state, settings[3] or '', bets, boxes) or (not late and 'table_was_offline')
  local outcome, record
  if stopped[group] then
    outcome, record = 'not_attempted', ''
  elseif known then
    local same = string.sub(known, 1, #body_hash) == body_hash
    outcome, record = same and 'replayed' or 'exists_with_different_body', known
  elseif round <= highest[table_id] then
    outcome, record = 'round_number_passed', string.format('%.0f', highest[table_id])
  elseif round > highest[table_id] + ROUNDS_AHEAD then
    outcome, record = 'round_number_too_far', string.format('%.0f', highest[table_id])
  elseif refused then
    outcome, record = refused, ''
  else
    local division = split(bets)
    if not fits(division) then
      outcome, record = 'meter_limit_reached', ''
    else
      local postings = postings_of(division)
      local after = apply(division)
      local seq, at = journal_append(stream_key, link, late .. 'bets_recorded', field, facts, postings, after)
      intake_begin(state, link.at, grace, round, closed_at, late ~= '')
      outcome, record = 'recorded', table.concat({body_hash, link.epoch, seq, at, link.head, after, ''}, '\n')
      record_of[field], highest[table_id] = record .. facts, round
      new_rounds[#new_rounds + 1] = field
      new_rounds[#new_rounds + 1] = record .. facts
      new_highest[table_id] = ARGV[base + 3]
    end
  end
  if outcome ~= 'recorded' and outcome ~= 'replayed' then stopped[group] = true end
  answers[i] = {outcome, record}
end

if #new_rounds > 0 then
  redis.call('HSET', rounds_key, unpack(new_rounds))
  for table_id, round in pairs(new_highest) do
    redis.call('HSET', tables_key, table_id, round)
    frontier_save(tables_key, states[table_id])
  end
  for _, meter in ipairs(meters) do
    redis.call('HSET', meters_key, meter.id .. '/value', exact_format(meter.value),
               meter.id .. '/overflow', exact_format(meter.overflow),
               meter.id .. '/reserve', exact_format(meter.reserve), meter.id .. '/owed', exact_format(meter.owed))
  end
  link_save(link_key, link)
end
return {'done', answers}
