-- OwnershipCheck: admitted without Truce it never passes. The verdict of Truce, not asked because its
-- webhook configuration is missing, is "unverified", which fails the sync; where Truce is not there at
-- all there is no verdict, and the sync waits.
local health = { status = "Progressing", message = "Truce has not checked this: is its webhook configuration there?" }
if obj.status == nil or obj.status.verdict == nil then return health end
health.message = obj.status.message or ("verdict: " .. obj.status.verdict)
if obj.status.verdict == "allowed" then
  health.status = "Healthy"
elseif obj.status.verdict == "denied" or obj.status.verdict == "unverified" then
  health.status = "Degraded"
end
return health
