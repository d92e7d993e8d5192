-- Raise an alarm that stays until a person acknowledges it. One alarm per subject is open at a time,
-- so a table that repeats its mistake fills neither the journal nor the memory.
--
-- @keys link alarms stream
-- @args subject facts
-- @returns {'raised', seq} | {'already_open', seq} | {'link_missing'}
-- @emits alarm_raised
-- @include link journal

local link = link_load(KEYS[1])
if not link then return {'link_missing'} end
local open = redis.call('HGET', KEYS[2], ARGV[1])
if open then return {'already_open', open} end

-- Writes start here.
link_tick(link)
local seq = journal_append(KEYS[3], link, 'alarm_raised', '', ARGV[2], '', '')
redis.call('HSET', KEYS[2], ARGV[1], seq)
link_save(KEYS[1], link)
return {'raised', seq}
