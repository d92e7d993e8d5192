-- Let go of claims that are final, of rounds that the ledger answers for. Changes nothing that anybody decides by.
--
-- @keys link claims
-- @args epoch definition version
-- @rest the claims' names
-- @returns {'done'} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @include link

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
if link.version ~= tonumber(ARGV[3]) then return {'look_again'} end

-- Writes start here.
for i = 4, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
return {'done'}
