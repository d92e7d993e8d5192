-- A named person has seen an alarm. A later occurrence raises a new one.
--
-- @keys link alarms stream
-- @args subject seq facts
-- @returns {'acknowledged', seq} | {'not_open'} | {'link_missing'}
-- @emits alarm_acknowledged
-- @include link journal

local link = link_load(KEYS[1])
if not link then return {'link_missing'} end
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return {'not_open'} end

-- Writes start here.
link_tick(link)
local seq = journal_append(KEYS[3], link, 'alarm_acknowledged', '', ARGV[3], '', '')
redis.call('HDEL', KEYS[2], ARGV[1])
link_save(KEYS[1], link)
return {'acknowledged', seq}
