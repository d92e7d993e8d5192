-- Void a round, once: every contribution of it that still stands is taken back, its claims are cancelled.
--
-- The caller has judged the void against the next round, the round's result and the claims; all are
-- named here, and the script says 'look_again' if any has changed meanwhile.
--
-- @keys link meters tables rounds claims stream
-- @args epoch definition version table number body_hash ledgered_seq highest result_seq facts
-- @rest the operations of include/change.lua
-- @returns {'recorded', record} | {'replayed', record} | {'exists_with_different_body', record} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @emits round_voided
-- @include exact link journal frontier round_end change

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
local field, body_hash, facts = ARGV[4] .. '/' .. ARGV[5], ARGV[6], ARGV[10]
local known = redis.call('HMGET', KEYS[4], field, field .. '/result', field .. '/void')
if known[3] then return round_end_known(known[3], body_hash) end
if round_end_unseen(link, known[1], ARGV[7]) then return {'look_again'} end
if redis.call('HGET', KEYS[3], ARGV[4]) ~= ARGV[8] then return {'look_again'} end
if known[2] and string.match(known[2], '^[^\n]*\n[^\n]*\n(%d+)') ~= ARGV[9] then return {'look_again'} end
if link.version ~= tonumber(ARGV[3]) then return {'look_again'} end
local change = change_load(KEYS[2], KEYS[3], link, 11)
if not change then return {'look_again'} end

-- Writes start here.
link_tick(link)
local postings, after = change_lines(change)
local seq, at = journal_append(KEYS[6], link, 'round_voided', field, facts, postings, after)
local record = round_end_record(body_hash, link, seq, at, after, facts)
change_save(KEYS[1], KEYS[2], KEYS[3], KEYS[5], change)
redis.call('HSET', KEYS[4], field .. '/void', record)
link.version = link.seq
link_save(KEYS[1], link)
return {'recorded', record}
