-- NamingPolicy, DeclarationMapping, OwnershipGrant: Truce says in the condition Accepted whether what
-- is written takes effect.
local health = { status = "Progressing", message = "Truce has not read this version yet" }
if obj.status == nil or obj.status.conditions == nil then return health end
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Accepted" then
    local seen = condition.observedGeneration
    if seen ~= nil and obj.metadata.generation ~= nil and seen < obj.metadata.generation then
      return health
    end
    health.message = condition.message
    if condition.status == "True" then
      health.status = "Healthy"
    elseif condition.status == "False" then
      health.status = "Degraded"
    end
    return health
  end
end
return health
