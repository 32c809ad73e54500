-- The load: AdmissionReviews with the headers that kube-apiserver sends.
--
--   wrk ... -s load.lua URL -- rotate FILE    the bodies of FILE, one a line, in turn
--   wrk ... -s load.lua URL -- fresh FILE     one body; in each request its marks are replaced:
--                                             @REVIEW@ and @OBJECT@ by fresh uids, @NAME@ by a
--                                             fresh name of kNameLength characters
--   wrk ... -s load.lua URL -- paths FILE [TOKEN [MS]]  GETs of the paths of FILE, one a line, in
--                                             turn, with a bearer token; each connection waits MS
--                                             milliseconds between two
--
-- Prints one line of JSON when done.

local PATH = "/validate?timeout=5s"
local HEADERS = {
  ["User-Agent"] = "kube-apiserver-admission",
  ["Accept"] = "application/json, */*",
  ["Content-Type"] = "application/json",
  ["Accept-Encoding"] = "gzip",
}

local function fresh_uid()
  local random = math.random
  return string.format("%08x-%04x-4%03x-9%03x-%06x%06x", random(0, 0xffffffff), random(0, 0xffff),
    random(0, 0xfff), random(0, 0xfff), random(0, 0xffffff), random(0, 0xffffff))
end

local function fresh_name()
  return string.format("billing-prod-reports-%06x%06x", math.random(0, 0xffffff),
    math.random(0, 0xffffff))
end

local function rotate(file)
  local requests, turn = {}, 0
  for body in io.lines(file) do
    requests[#requests + 1] = wrk.format("POST", PATH, HEADERS, body)
  end
  return function()
    turn = turn % #requests + 1
    return requests[turn]
  end
end

local function paths(file, token)
  local requests, turn = {}, 0
  local headers = { ["Accept"] = "application/json" }
  if token and token ~= "" then headers["Authorization"] = "Bearer " .. token end
  for path in io.lines(file) do requests[#requests + 1] = wrk.format("GET", path, headers) end
  return function()
    turn = turn % #requests + 1
    return requests[turn]
  end
end

-- The request as pieces, so that one concatenation makes it. All replacements have one length, so
-- the content's length is always the same.
local function fresh(file)
  local body = io.open(file):read("*l")
  local uid, name = fresh_uid(), fresh_name()
  body = body:gsub("@NAME@", name):gsub("@OBJECT@", uid):gsub("@REVIEW@", "#" .. uid:sub(2))
  local request = wrk.format("POST", PATH, HEADERS, body)
  local pieces, names, objects, reviews, at = {}, {}, {}, {}, 1
  local marks = { [name] = names, [uid] = objects, ["#" .. uid:sub(2)] = reviews }
  while at <= #request do
    local first, last, places
    for mark, found in pairs(marks) do
      local from, to = request:find(mark, at, true)
      if from and (not first or from < first) then first, last, places = from, to, found end
    end
    pieces[#pieces + 1] = request:sub(at, (first or #request + 1) - 1)
    if not first then break end
    pieces[#pieces + 1] = ""
    places[#places + 1] = #pieces
    at = last + 1
  end
  local function put(places, text)
    for _, place in ipairs(places) do pieces[place] = text end
  end
  return function()
    put(names, fresh_name())
    put(objects, fresh_uid())
    put(reviews, fresh_uid())
    return table.concat(pieces)
  end
end

function init(args)
  -- The clock alone would give two runs of one second the same names.
  local urandom = io.open("/dev/urandom", "rb")
  local a, b, c, d = urandom:read(4):byte(1, 4)
  urandom:close()
  math.randomseed(((a * 256 + b) * 256 + c) * 256 + d)
  if args[1] == "paths" then
    request = paths(args[2], args[3])
    local pause = tonumber(args[4] or "0")
    if pause > 0 then delay = function() return pause end end
  else
    request = args[1] == "fresh" and fresh(args[2]) or rotate(args[2])
  end
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50_ms":%.4f,"p99_ms":%.4f,"max_ms":%.4f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
