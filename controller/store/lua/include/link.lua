-- The head of a link: who it is, how far its journal has come, and whether it takes commands.
-- A caller names the epoch and the definition it knows; if either has moved on, nothing is done.

-- Before Redis 7 a script must ask for effect replication before it may read the clock and then write.
if redis.replicate_commands then redis.replicate_commands() end

local function link_load(key)
  local f = redis.call('HMGET', key, 'epoch', 'definition', 'status', 'reason', 'seq', 'at', 'head',
                       'released', 'version')
  if not f[1] then return nil end
  return {epoch = f[1], definition = f[2], status = f[3], reason = f[4],
          seq = tonumber(f[5]), at = tonumber(f[6]), head = f[7], released = tonumber(f[8] or '0'),
          version = tonumber(f[9] or '0')}
end

-- A refusal for the whole call, or nil when the link takes the command.
local function link_refusal(link, epoch, definition)
  if not link then return {'link_missing'} end
  if link.epoch ~= epoch or link.definition ~= definition then
    return {'stale', link.epoch, link.definition}
  end
  if link.status == 'closed' then return {'link_closed', link.reason} end
  return nil
end

-- Microseconds of the Redis server's clock, but never before the link's last entry.
local function link_tick(link)
  local now = redis.call('TIME')
  local micros = tonumber(now[1]) * 1000000 + tonumber(now[2])
  if micros > link.at then link.at = micros end
end

local function link_save(key, link)
  redis.call('HSET', key, 'seq', string.format('%.0f', link.seq),
             'at', string.format('%.0f', link.at), 'head', link.head,
             'version', string.format('%.0f', link.version))
end
