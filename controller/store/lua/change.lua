-- Apply a decision about wins: claims, orders, settlements, payments, suspensions. What it is was worked out by
-- controller/jackpots; here it happens whole or not at all, once, and is
-- journaled under the kind that the caller names.
--
-- `round` names one whose result the decision goes by, with the result's entry: '' where it goes by none.
--
-- @keys link meters tables rounds claims stream
-- @args epoch definition version round result_seq kind facts
-- @rest the operations of include/change.lua
-- @returns {'done', seq, at, epoch, head} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @include exact link journal frontier change

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
if link.version ~= tonumber(ARGV[3]) then return {'look_again'} end
if ARGV[4] ~= '' then
  local ends = redis.call('HMGET', KEYS[4], ARGV[4] .. '/result', ARGV[4] .. '/void')
  local seq = ends[1] and string.match(ends[1], '^[^\n]*\n[^\n]*\n(%d+)')
  if ends[2] or (seq and seq ~= ARGV[5]) then return {'look_again'} end
end
local change = change_load(KEYS[2], KEYS[3], link, 8)
if not change then return {'look_again'} end

-- Writes start here.
link_tick(link)
local postings, after = change_lines(change)
local seq, at = journal_append(KEYS[6], link, ARGV[6], '', ARGV[7], postings, after)
change_save(KEYS[1], KEYS[2], KEYS[3], KEYS[5], change)
link.version = link.seq
link_save(KEYS[1], link)
return {'done', seq, at, link.epoch, link.head}
