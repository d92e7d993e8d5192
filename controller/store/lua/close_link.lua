-- Fail closed: the link takes no more commands until someone has healed it. Closing twice keeps the
-- first reason, which is the one that explains what happened.
--
-- @keys link stream
-- @args reason facts
-- @returns {'closed'} | {'already_closed', reason} | {'link_missing'}
-- @emits link_closed
-- @include link journal

local link = link_load(KEYS[1])
if not link then return {'link_missing'} end
if link.status == 'closed' then return {'already_closed', link.reason} end

-- Writes start here. Closing comes first and does not depend on the journal: a broken journal may be
-- the very reason for it.
redis.call('HSET', KEYS[1], 'status', 'closed', 'reason', ARGV[1])
link_tick(link)
if pcall(journal_append, KEYS[2], link, 'link_closed', '', ARGV[2], '', '') then
  link_save(KEYS[1], link)
end
return {'closed'}
