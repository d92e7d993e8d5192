-- Let go of claims that are final, unless their round is still here: then a late message about it must find them.
--
-- @keys link rounds claims
-- @args epoch definition version
-- @rest per claim: its name, its round's field
-- @returns {'done'} | {'look_again'}
-- @returns {'link_missing'} | {'stale', epoch, definition} | {'link_closed', reason}
-- @include link

local link = link_load(KEYS[1])
local refusal = link_refusal(link, ARGV[1], ARGV[2])
if refusal then return refusal end
if link.version ~= tonumber(ARGV[3]) then return {'look_again'} end
local gone = {}
for i = 4, #ARGV, 2 do
  if not redis.call('HGET', KEYS[2], ARGV[i + 1]) then gone[#gone + 1] = ARGV[i] end
end

-- Writes start here.
for _, claim in ipairs(gone) do redis.call('HDEL', KEYS[3], claim) end
return {'done'}
