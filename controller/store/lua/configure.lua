-- Put a link's definition in force: commission the link or its new meters, let new tables in.
--
-- A meter that is already commissioned keeps its money parameters: a floor file may not change them
-- in passing. The opening value of a new meter is funded by the house, and the journal says so.
--
-- @keys link meters stream
-- @args epoch definition expected_definition bet_cents facts meter_count dry_run
-- @rest per meter: id rate_ppm reserve_ppm reset cap opening (cap and reset in micro-cents, cap '' for none)
-- @returns {'configured', seq} | {'unchanged', seq} | {'possible'} when dry_run is '1' | {'parameter_fixed', meter, field, in_force}
-- @returns {'stale', epoch, definition} | {'link_closed', reason}
-- @emits link_configured
-- @include exact link journal

local link_key, meters_key, stream_key = KEYS[1], KEYS[2], KEYS[3]
local epoch, definition, bet_cents, facts = ARGV[1], ARGV[2], ARGV[4], ARGV[5]
local link = link_load(link_key)
if link then
  if link.epoch == epoch and link.definition == definition then
    return {'unchanged', string.format('%.0f', link.seq)}
  end
  local refusal = link_refusal(link, epoch, ARGV[3])
  if refusal then return refusal end
  local in_force = redis.call('HGET', link_key, 'bet_cents')
  if in_force ~= bet_cents then return {'parameter_fixed', '', 'bet_cents', in_force} end
elseif ARGV[3] ~= '' then
  return {'stale', '', ''}
else
  link = {epoch = epoch, seq = 0, at = 0, head = '', released = 0, version = 0}
end

-- Whatever could refuse is read before the first write.
local known = {}
for id in string.gmatch(redis.call('HGET', link_key, 'meters') or '', '[^,]+') do known[id] = true end
local ids, new_meters, after = {}, {}, {}
local funded = {0, 0}
local FIELDS = {'rate_ppm', 'reserve_ppm', 'reset', 'cap'}
for i = 1, tonumber(ARGV[6]) do
  local base = 7 + (i - 1) * 6
  local id, opening = ARGV[base + 1], exact_parse(ARGV[base + 6])
  ids[i] = id
  if known[id] then
    known[id] = nil
    for n, field in ipairs(FIELDS) do
      local in_force = redis.call('HGET', meters_key, id .. '/' .. field)
      if in_force ~= ARGV[base + 1 + n] then return {'parameter_fixed', id, field, in_force} end
    end
    after[i] = id .. '=' .. redis.call('HGET', meters_key, id .. '/value')
  else
    new_meters[#new_meters + 1] = {id = id, base = base, opening = opening}
    funded = exact_add(funded, opening)
    after[i] = id .. '=' .. exact_format(opening)
  end
end
for id in pairs(known) do return {'parameter_fixed', id, 'meter', 'commissioned'} end

local postings = {}
for _, meter in ipairs(new_meters) do
  if not exact_is_zero(meter.opening) then
    postings[#postings + 1] = 'meter/' .. meter.id .. '=' .. exact_format(meter.opening)
  end
end
if not exact_is_zero(funded) then postings[#postings + 1] = 'house=-' .. exact_format(funded) end

if ARGV[7] == '1' then return {'possible'} end

-- Writes start here.
link_tick(link)
local seq = journal_append(stream_key, link, 'link_configured', '', facts,
                           table.concat(postings, ';'), table.concat(after, ';'))
for _, meter in ipairs(new_meters) do
  for n, field in ipairs(FIELDS) do
    redis.call('HSET', meters_key, meter.id .. '/' .. field, ARGV[meter.base + 1 + n])
  end
  redis.call('HSET', meters_key, meter.id .. '/value', exact_format(meter.opening),
             meter.id .. '/overflow', '0', meter.id .. '/reserve', '0', meter.id .. '/owed', '0',
             meter.id .. '/cycle', '1', meter.id .. '/status', 'running', meter.id .. '/registrations', '')
end
redis.call('HSET', link_key, 'epoch', epoch, 'definition', definition, 'status', 'running', 'reason', '',
           'bet_cents', bet_cents, 'meters', table.concat(ids, ','))
link.version = link.seq
link_save(link_key, link)
return {'configured', seq}
