-- Record a round's result, once: the round is finished, its claims are registered, its fixed awards are made, and
-- the contributions of hands that were taken out of play are taken back.
--
-- @keys link meters tables rounds claims stream
-- @args epoch definition version table number body_hash ledgered_seq returns claimed facts
-- @rest the operations of include/change.lua; `version` is '' where nothing in them depends on it
-- @returns {'recorded', record} | {'replayed', record} | {'exists_with_different_body', record}
-- @returns {'round_voided', record} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @emits result_recorded
-- @include exact link journal frontier round_end change

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
local field, body_hash, facts = ARGV[4] .. '/' .. ARGV[5], ARGV[6], ARGV[10]
local known = redis.call('HMGET', KEYS[4], field, field .. '/result', field .. '/void', field .. '/returns')
if known[3] then return {'round_voided', known[3]} end
if known[2] then return round_end_known(known[2], body_hash) end
if round_end_unseen(link, known[1], ARGV[7]) then return {'look_again'} end
if ARGV[3] ~= '' and link.version ~= tonumber(ARGV[3]) then return {'look_again'} end
-- What the caller has not seen could decide otherwise: a box whose bets went back, a claim.
if round_end_returns(known[4]) ~= ARGV[8] or round_end_claimed(KEYS[5], ARGV[4], ARGV[5]) ~= ARGV[9] then
  return {'look_again'}
end
local change = change_load(KEYS[2], KEYS[3], link, 11)
if not change then return {'look_again'} end

-- Writes start here.
link_tick(link)
local postings, after = change_lines(change)
local seq, at = journal_append(KEYS[6], link, 'result_recorded', field, facts, postings, after)
local record = round_end_record(body_hash, link, seq, at, after, facts)
change_save(KEYS[1], KEYS[2], KEYS[3], KEYS[5], change)
redis.call('HSET', KEYS[4], field .. '/result', record)
if change.decides then link.version = link.seq end
link_save(KEYS[1], link)
return {'recorded', record}
