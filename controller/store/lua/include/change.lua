-- A change that was decided outside and is applied here, exactly: documents, tables, meters, postings.
--
-- The caller read the link at some version and names it; whatever could alter the decision moves the version on.
-- Bets do not: they only raise balances, and a change of money is a difference. ARGV from `first`: the number of
-- operations, then each by name with its arguments:
--
--   doc field text                        a document of the claims' hash
--   table field text                      a field of the tables' hash; '' removes it
--   meter field text | link field text    a field of the meters' hash, or of the link's
--   close_round table number              a round of the table is finished
--   close_table table                     the table is not live any more; not while a round of it is open
--   register meter claim                  note a claim's registration: this entry's number, the balance now
--   move meter account difference         value, overflow, reserve or owed, in micro-cents
--   effect meter shown_before             what signs show until the ledger has this entry
--   thaw meter frozen_value               the meter runs on: repay what it owes from what accrued, split at the cap
--   take_back meter owed overflow reserve seq   undo the split of bets that entry `seq` recorded
--   post account difference               an account without a meter
local CHANGE_WORDS = {doc = 2, table = 2, meter = 2, link = 2, close_round = 2, close_table = 1, register = 2, effect = 2, move = 3, thaw = 2,
                      take_back = 5, post = 2}

local function change_signed(text)
  if string.sub(text, 1, 1) == '-' then return exact_parse(string.sub(text, 2)), true end
  return exact_parse(text), false
end

local function change_meter(change, meters_key, id)
  local meter = change.meters[id]
  if meter then return meter end
  local f = redis.call('HMGET', meters_key, id .. '/value', id .. '/overflow', id .. '/reserve', id .. '/owed',
                       id .. '/cap', id .. '/registrations', id .. '/won_through')
  meter = {value = exact_parse(f[1]), overflow = exact_parse(f[2]), reserve = exact_parse(f[3]),
           owed = exact_parse(f[4] or '0'), cap = f[5] ~= '' and exact_parse(f[5]) or nil, registrations = f[6] or '',
           won_through = tonumber(f[7] or '0')}
  change.decides = true
  change.meters[id] = meter
  change.touched[#change.touched + 1] = id
  return meter
end

-- A field of a meter. What other operations of the same change read or write, too, is kept with the meter: whichever
-- comes last has the last word, and none goes by what an earlier one has undone.
local function change_field(change, meters_key, field, text)
  local id, name = string.match(field, '^(.-)/(.*)$')
  if name == 'registrations' or name == 'status' then change_meter(change, meters_key, id)[name] = text
  else change.fields.meters[field] = text end
  if name == 'won_through' then change_meter(change, meters_key, id).won_through = tonumber(text) end
end

local function change_post(change, account, amount, negative)
  if not exact_is_zero(amount) then
    change.lines[#change.lines + 1] = account .. '=' .. (negative and '-' or '') .. exact_format(amount)
  end
end

-- One account of a meter by a difference; false where it does not hold as much. What a meter owes is a debt: it
-- stands on the other side of the ledger.
local function change_move(change, meter, id, account, amount, negative)
  if negative then
    if exact_less(meter[account], amount) then return false end
    meter[account] = exact_sub(meter[account], amount)
  else
    meter[account] = exact_add(meter[account], amount)
  end
  local name = account == 'value' and 'meter' or account
  if account == 'owed' then negative = not negative end
  change_post(change, name .. '/' .. id, amount, negative)
  return meter[account][1] <= EXACT_MAX_CENTS
end

local function change_thaw(change, meter, id, frozen)
  local accrued = exact_sub(meter.value, frozen)
  local repaid = exact_less(meter.owed, accrued) and meter.owed or accrued
  change_move(change, meter, id, 'value', repaid, true)
  change_move(change, meter, id, 'owed', repaid, true)
  if meter.cap and exact_less(meter.cap, meter.value) then
    local over = exact_sub(meter.value, meter.cap)
    change_move(change, meter, id, 'value', over, true)
    change_move(change, meter, id, 'overflow', over, false)
  end
  meter.registrations, meter.status = '', 'running'
end

-- A sign never falls for a reversal: what raised a meter becomes owed by it and is repaid by coming contributions.
-- What overflow or reserve no longer holds, and what has been won since, is the house's.
local function change_take_back(change, meter, id, first)
  local lacking = {0, 0}
  for n, account in ipairs({'overflow', 'reserve'}) do
    local wanted = exact_parse(ARGV[first + n])
    local held = exact_less(meter[account], wanted) and meter[account] or wanted
    change_move(change, meter, id, account, held, true)
    lacking = exact_add(lacking, exact_sub(wanted, held))
  end
  local raised = exact_parse(ARGV[first])
  if tonumber(ARGV[first + 3]) < meter.won_through then lacking = exact_add(lacking, raised)
  else change_move(change, meter, id, 'owed', raised, false) end
  change_post(change, 'house', lacking, true)
end

-- Read and work the whole change out; nil where it cannot be applied to what is there now. Nothing is written.
local function change_load(meters_key, tables_key, link, first)
  local change = {fields = {claims = {}, tables = {}, meters = {}, link = {}}, gone = {},
                  meters = {}, touched = {}, lines = {}, closed = {},
                  tables_key = tables_key}
  local seq, at = string.format('%.0f', link.seq + 1), first + 1
  for _ = 1, tonumber(ARGV[first]) do
    local name, a, b, c = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    at = at + 1 + CHANGE_WORDS[name]
    if name == 'doc' then change.fields.claims[a], change.decides = b, true
    elseif name == 'table' and b == '' then change.gone[#change.gone + 1] = a
    elseif name == 'table' then change.fields.tables[a] = b
    elseif name == 'meter' then change_field(change, meters_key, a, b)
    elseif name == 'link' then change.fields.link[a] = b
    elseif name == 'effect' then
      change.fields.meters[a .. '/shown_before'], change.fields.meters[a .. '/effect_seq'] = b, seq
    elseif name == 'close_table' then
      local state = frontier_load(change.tables_key, a, 0)
      if #state.open > 0 then return nil end
      state.live, change.leaving = false, state
    elseif name == 'close_round' then change.closed[#change.closed + 1] = {a, tonumber(b)}
    elseif name == 'post' then
      local amount, negative = change_signed(b)
      change_post(change, a, amount, negative)
    else
      local meter = change_meter(change, meters_key, a)
      if name == 'register' then
        local row = b .. '=' .. seq .. '=' .. exact_format(meter.value)
        meter.registrations = meter.registrations == '' and row or meter.registrations .. ';' .. row
        meter.status = 'won'
      elseif name == 'thaw' then change_thaw(change, meter, a, exact_parse(b))
      elseif name == 'take_back' then change_take_back(change, meter, a, at - 4)
      else
        local amount, negative = change_signed(c)
        if not change_move(change, meter, a, b, amount, negative) then return nil end
      end
    end
  end
  return change
end

-- The postings of a change, and the meters after it.
local function change_lines(change)
  local after = {}
  for i, id in ipairs(change.touched) do after[i] = id .. '=' .. exact_format(change.meters[id].value) end
  return table.concat(change.lines, ';'), table.concat(after, ';')
end

local function change_save(link_key, meters_key, tables_key, claims_key, change)
  for id, meter in pairs(change.meters) do
    redis.call('HSET', meters_key, id .. '/value', exact_format(meter.value),
               id .. '/overflow', exact_format(meter.overflow), id .. '/reserve', exact_format(meter.reserve),
               id .. '/owed', exact_format(meter.owed), id .. '/registrations', meter.registrations)
    if meter.status then redis.call('HSET', meters_key, id .. '/status', meter.status) end
  end
  local keys = {claims = claims_key, tables = tables_key, meters = meters_key, link = link_key}
  for hash, fields in pairs(change.fields) do
    for field, text in pairs(fields) do redis.call('HSET', keys[hash], field, text) end
  end
  for _, field in ipairs(change.gone) do redis.call('HDEL', tables_key, field) end
  if change.leaving then
    -- A heartbeat that was sent before it and comes after it must not bring the table back.
    local state, now = change.leaving, redis.call('TIME')
    local beat = tonumber(now[1]) * 1000000 + tonumber(now[2]) - state.offset
    redis.call('HSET', tables_key, state.id .. '/beat', frontier_instant(math.max(beat, state.beat)))
    frontier_save(tables_key, state)
  end
  for _, closed in ipairs(change.closed) do
    local state = frontier_load(tables_key, closed[1], 0)
    frontier_close(state, closed[2])
    frontier_save(tables_key, state)
  end
end
