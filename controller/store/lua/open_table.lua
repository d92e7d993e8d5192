-- A table says that it is here, and learns the number of its next round: the controller owns the
-- numbering, so a replaced device goes on where the old one stopped. From now on it is live: it holds
-- claims of others back until it is known that it can bring no earlier one. It may be another device: nothing is
-- known of its clock.
--
-- @keys link tables stream
-- @args epoch definition table grace facts
-- @returns {'opened', next_round, seq, epoch, head}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @emits table_opened
-- @include link journal frontier

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
local highest = tonumber(redis.call('HGET', KEYS[2], ARGV[3]) or '0')
local state = frontier_load(KEYS[2], ARGV[3], 0)

-- Writes start here.
link_tick(link)
local seq = journal_append(KEYS[3], link, 'table_opened', '', ARGV[5], '', '')
if not state.live then state.base = link.at end
frontier_touch(state, link.at, tonumber(ARGV[4]))
redis.call('HDEL', KEYS[2], ARGV[3] .. '/offset', ARGV[3] .. '/uncertainty', ARGV[3] .. '/beat')
frontier_save(KEYS[2], state)
link_save(KEYS[1], link)
return {'opened', string.format('%.0f', highest + 1), seq, link.epoch, link.head}
