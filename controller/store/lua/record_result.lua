-- Record a round's result, once, and take back the contributions of hands that were taken out of play.
--
-- @keys link meters rounds stream
-- @args epoch definition field body_hash ledgered_seq facts
-- @rest staked house meter_count, then per meter: id owed overflow reserve (micro-cents to take back)
-- @returns {'recorded', record} | {'replayed', record} | {'exists_with_different_body', record}
-- @returns {'round_voided', record} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @emits result_recorded
-- @include exact link journal reversal round_end

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
local field, body_hash, facts = ARGV[3], ARGV[4], ARGV[6]
local known = redis.call('HMGET', KEYS[3], field, field .. '/result', field .. '/void')
if known[3] then return {'round_voided', known[3]} end
if known[2] then return round_end_known(known[2], body_hash) end
if round_end_unseen(link, known[1], ARGV[5]) then return {'look_again'} end
local reversal = reversal_load(KEYS[2], 7)

-- Writes start here.
link_tick(link)
local postings, after = reversal_lines(reversal)
local seq, at = journal_append(KEYS[4], link, 'result_recorded', field, facts, postings, after)
local record = round_end_record(body_hash, link, seq, at, after, facts)
reversal_save(KEYS[2], reversal)
redis.call('HSET', KEYS[3], field .. '/result', record)
link_save(KEYS[1], link)
return {'recorded', record}
