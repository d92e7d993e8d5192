-- Whether a table's bets are taken now. Nobody may bet on hands that are already known: after a silence only the
-- round that was open when contact was lost is taken (5.17.2c).

-- Why not, by a decision of the House, or nil.
local function intake_suspended(state, link_suspension, bets, boxes)
  if state.suspension == 'closed' then return 'table_suspended' end
  if state.boxes_off ~= '' then
    for box in string.gmatch(boxes, '%d+') do
      if string.find(',' .. state.boxes_off .. ',', ',' .. box .. ',', 1, true) then return 'box_suspended' end
    end
  end
  if bets > 0 and (state.suspension ~= '' or link_suspension ~= '') then return 'progressive_suspended' end
  return nil
end

-- '' in time, 'late_' for the round that was open when contact was lost, nil for any other. Of a table that never sent
-- a heartbeat nothing is known about its clock, and no contact was lost.
local function intake_lateness(state, now, grace, round, highest, closed_at)
  local uncertainty = frontier_uncertainty(state, now)
  if not (state.measured or state.beat > 0) or now - (closed_at + state.offset + uncertainty) <= grace then return '' end
  local lost = state.contact > 0 and now - state.contact > grace and state.contact or state.lost
  if lost > 0 and round == highest + 1 and closed_at + state.offset - uncertainty <= lost + grace then return 'late_' end
  return nil
end

-- The round is open from now on; its table's earlier ones are finished.
local function intake_begin(state, now, grace, round, closed_at, late)
  local open = {{number = round, lower = frontier_lower(state, closed_at, now), closed = closed_at}}
  for _, other in ipairs(state.open) do
    if other.number > round then open[#open + 1] = other end
  end
  if not state.live then state.base = open[1].lower end
  state.open = open
  frontier_touch(state, now, grace)
  if late then state.lost = 0 end
end
