-- Apply a decision about wins: claims, orders, settlements, payments, suspensions. What it is was worked out by
-- controller/jackpots; here it happens whole or not at all, once, and is
-- journaled under the kind that the caller names.
--
-- @keys link meters tables claims stream
-- @args epoch definition version kind facts
-- @rest the operations of include/change.lua
-- @returns {'done', seq, at, epoch, head} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @include exact link journal frontier change

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
if link.version ~= tonumber(ARGV[3]) then return {'look_again'} end
local change = change_load(KEYS[2], link, 6)
if not change then return {'look_again'} end

-- Writes start here.
link_tick(link)
local postings, after = change_lines(change)
local seq, at = journal_append(KEYS[5], link, ARGV[4], '', ARGV[5], postings, after)
change_save(KEYS[1], KEYS[2], KEYS[3], KEYS[4], change)
link.version = link.seq
link_save(KEYS[1], link)
return {'done', seq, at, link.epoch, link.head}
