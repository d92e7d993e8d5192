-- Exact amounts. Lua numbers are doubles and lose units above 2^53, which micro-cents reach at about
-- $90 million. An amount is therefore held as a pair {whole cents, micro-cents 0..999999}: both parts
-- stay far below 2^53 for any amount that a signed 64-bit integer of micro-cents can hold.
local MICRO = 1000000
-- Whole cents of the largest amount that fits 64 bits, rounded down; SQL stores the same width.
local EXACT_MAX_CENTS = 9223372036853

local function exact_parse(text)
  if #text <= 6 then return {0, tonumber(text)} end
  return {tonumber(string.sub(text, 1, -7)), tonumber(string.sub(text, -6))}
end

local function exact_format(pair)
  if pair[1] == 0 then return string.format('%d', pair[2]) end
  return string.format('%.0f%06d', pair[1], pair[2])
end

local function exact_add(a, b)
  local micro = a[2] + b[2]
  if micro >= MICRO then return {a[1] + b[1] + 1, micro - MICRO} end
  return {a[1] + b[1], micro}
end

-- a - b, for a >= b.
local function exact_sub(a, b)
  local micro = a[2] - b[2]
  if micro < 0 then return {a[1] - b[1] - 1, micro + MICRO} end
  return {a[1] - b[1], micro}
end

local function exact_less(a, b)
  return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2])
end

local function exact_is_zero(a)
  return a[1] == 0 and a[2] == 0
end

-- cents x parts per million, exactly: the product in micro-cents can pass 2^53, its two parts cannot.
local function exact_share(cents, ppm)
  local millions = math.floor(cents / MICRO)
  local product = (cents - millions * MICRO) * ppm
  local carry = math.floor(product / MICRO)
  return {millions * ppm + carry, product - carry * MICRO}
end
