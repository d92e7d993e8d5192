-- One box's bets go back, once: its hand is out of play, its contribution is taken back, its claims are cancelled.
-- A round's returns are kept together, parted by a carriage return, which no record contains.
--
-- @keys link meters tables rounds claims stream
-- @args epoch definition version table number box body_hash ledgered_seq result_seq facts
-- @rest the operations of include/change.lua
-- @returns {'recorded', record} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @emits box_returned
-- @include exact link journal frontier round_end change

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
local field, body_hash, facts = ARGV[4] .. '/' .. ARGV[5], ARGV[7], ARGV[10]
local known = redis.call('HMGET', KEYS[4], field, field .. '/returns', field .. '/void', field .. '/result')
-- A return, or a claim, that the caller has not seen has moved the version.
if known[3] or link.version ~= tonumber(ARGV[3]) then return {'look_again'} end
if round_end_unseen(link, known[1], ARGV[8]) then return {'look_again'} end
if known[4] and string.match(known[4], '^[^\n]*\n[^\n]*\n(%d+)') ~= ARGV[9] then return {'look_again'} end
local change = change_load(KEYS[2], KEYS[3], link, 11)
if not change then return {'look_again'} end

-- Writes start here.
link_tick(link)
local postings, after = change_lines(change)
local seq, at = journal_append(KEYS[6], link, 'box_returned', field .. '/' .. ARGV[6], facts, postings, after)
local record = round_end_record(body_hash, link, seq, at, after, facts)
change_save(KEYS[1], KEYS[2], KEYS[3], KEYS[5], change)
redis.call('HSET', KEYS[4], field .. '/returns', known[2] and known[2] .. '\r' .. record or record)
link.version = link.seq
link_save(KEYS[1], link)
return {'recorded', record}
