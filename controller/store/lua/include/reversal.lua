-- Take contributions back. A sign never falls for a reversal: what raised a meter becomes owed by it and is
-- repaid by coming contributions. What overflow or reserve no longer holds is the house's.
--
-- ARGV from `first`: staked, house, meter count, then per meter: id, owed, overflow, reserve.
local function reversal_load(meters_key, first)
  local reversal = {staked = exact_parse(ARGV[first]), house = exact_parse(ARGV[first + 1]), meters = {}}
  for m = 1, tonumber(ARGV[first + 2]) do
    local base = first + 2 + (m - 1) * 4
    local id = ARGV[base + 1]
    local f = redis.call('HMGET', meters_key, id .. '/owed', id .. '/overflow', id .. '/reserve', id .. '/value')
    local function taken(held, wanted)
      local got = exact_less(held, wanted) and held or wanted
      reversal.house = exact_add(reversal.house, exact_sub(wanted, got))
      return got
    end
    local held = {overflow = exact_parse(f[2]), reserve = exact_parse(f[3])}
    local owed = exact_parse(ARGV[base + 2])
    local overflow = taken(held.overflow, exact_parse(ARGV[base + 3]))
    local reserve = taken(held.reserve, exact_parse(ARGV[base + 4]))
    reversal.meters[m] = {
      id = id, owed = owed, overflow = overflow, reserve = reserve, value = f[4],
      owed_after = exact_add(exact_parse(f[1] or '0'), owed),
      overflow_after = exact_sub(held.overflow, overflow),
      reserve_after = exact_sub(held.reserve, reserve)}
  end
  return reversal
end

-- The postings of a reversal, and the meters after it.
local function reversal_lines(reversal)
  local lines, after = {}, {}
  local function post(account, sign, amount)
    if not exact_is_zero(amount) then lines[#lines + 1] = account .. '=' .. sign .. exact_format(amount) end
  end
  post('bets', '', reversal.staked)
  for m, meter in ipairs(reversal.meters) do
    post('owed/' .. meter.id, '-', meter.owed)
    post('overflow/' .. meter.id, '-', meter.overflow)
    post('reserve/' .. meter.id, '-', meter.reserve)
    after[m] = meter.id .. '=' .. meter.value
  end
  post('house', '-', reversal.house)
  return table.concat(lines, ';'), table.concat(after, ';')
end

local function reversal_save(meters_key, reversal)
  for _, meter in ipairs(reversal.meters) do
    redis.call('HSET', meters_key, meter.id .. '/owed', exact_format(meter.owed_after),
               meter.id .. '/overflow', exact_format(meter.overflow_after),
               meter.id .. '/reserve', exact_format(meter.reserve_after))
  end
end
