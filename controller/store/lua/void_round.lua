-- Void a round, once: every contribution of it that still stands is taken back.
--
-- The caller has judged the void against the next round and against what the result took back; both are
-- named here, and the script says 'look_again' if either has changed meanwhile.
--
-- @keys link meters tables rounds stream
-- @args epoch definition table field body_hash ledgered_seq highest result_seq facts
-- @rest staked house meter_count, then per meter: id owed overflow reserve (micro-cents to take back)
-- @returns {'recorded', record} | {'replayed', record} | {'exists_with_different_body', record} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @emits round_voided
-- @include exact link journal reversal round_end

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
local field, body_hash, facts = ARGV[4], ARGV[5], ARGV[9]
local known = redis.call('HMGET', KEYS[4], field, field .. '/result', field .. '/void')
if known[3] then return round_end_known(known[3], body_hash) end
if round_end_unseen(link, known[1], ARGV[6]) then return {'look_again'} end
if redis.call('HGET', KEYS[3], ARGV[3]) ~= ARGV[7] then return {'look_again'} end
if known[2] and string.match(known[2], '^[^\n]*\n[^\n]*\n(%d+)') ~= ARGV[8] then return {'look_again'} end
local reversal = reversal_load(KEYS[2], 10)

-- Writes start here.
link_tick(link)
local postings, after = reversal_lines(reversal)
local seq, at = journal_append(KEYS[5], link, 'round_voided', field, facts, postings, after)
local record = round_end_record(body_hash, link, seq, at, after, facts)
reversal_save(KEYS[2], reversal)
redis.call('HSET', KEYS[4], field .. '/void', record)
link_save(KEYS[1], link)
return {'recorded', record}
