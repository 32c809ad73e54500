-- OwnershipCheck: admitted without Truce (its webhook configuration is missing) it stays without a
-- verdict, and the sync waits instead of passing.
local health = { status = "Progressing", message = "Truce has not checked this: is its webhook configuration there?" }
if obj.status == nil or obj.status.verdict == nil then return health end
health.message = obj.status.message or ("verdict: " .. obj.status.verdict)
if obj.status.verdict == "allowed" then
  health.status = "Healthy"
elseif obj.status.verdict == "denied" then
  health.status = "Degraded"
end
return health
