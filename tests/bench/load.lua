-- The load: AdmissionReviews with the headers that kube-apiserver sends.
--
--   wrk ... -s load.lua URL -- rotate FILE    the bodies of FILE, one a line, in turn
--   wrk ... -s load.lua URL -- fresh FILE [MS]  the same; in each request its marks are replaced:
--                                             @REVIEW@ and @OBJECT@ by fresh uids, @NAME@ and
--                                             @OBJECTNAME@ by fresh names of one length
--   wrk ... -s load.lua URL -- paths FILE [TOKEN [MS]]  GETs of the paths of FILE, one a line, in
--                                             turn, with a bearer token
--
-- With MS each connection waits so many milliseconds between two requests.
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

local FRESH = {
  NAME = fresh_name,
  OBJECTNAME = fresh_name,
  OBJECT = fresh_uid,
  REVIEW = fresh_uid,
}

-- A request as pieces, so that one concatenation makes it: its length, and whose places each mark has.
-- What replaces a mark always has the same length, and so has the content.
local function pieces_of(body)
  local long = body:gsub("@(%u+)@", function(mark)
    return FRESH[mark] and "@" .. mark .. ("@"):rep(#FRESH[mark]() - #mark - 1)
  end)
  local request = wrk.format("POST", PATH, HEADERS, long)
  local pieces, places, at = {}, {}, 1
  for first, mark, last in request:gmatch("()@(%u+)@+()") do
    pieces[#pieces + 1] = request:sub(at, first - 1)
    pieces[#pieces + 1] = ""
    places[mark] = places[mark] or {}
    table.insert(places[mark], #pieces)
    at = last
  end
  pieces[#pieces + 1] = request:sub(at)
  return { pieces = pieces, places = places }
end

local function fresh(file)
  local requests, turn = {}, 0
  for body in io.lines(file) do requests[#requests + 1] = pieces_of(body) end
  return function()
    turn = turn % #requests + 1
    local next = requests[turn]
    for mark, places in pairs(next.places) do
      local text = FRESH[mark]()
      for _, place in ipairs(places) do next.pieces[place] = text end
    end
    return table.concat(next.pieces)
  end
end

function init(args)
  -- The clock alone would give two runs of one second the same names.
  local urandom = io.open("/dev/urandom", "rb")
  local a, b, c, d = urandom:read(4):byte(1, 4)
  urandom:close()
  math.randomseed(((a * 256 + b) * 256 + c) * 256 + d)
  local pause = 0
  if args[1] == "paths" then
    request = paths(args[2], args[3])
    pause = tonumber(args[4] or "0")
  elseif args[1] == "fresh" then
    request = fresh(args[2])
    pause = tonumber(args[3] or "0")
  else
    request = rotate(args[2])
  end
  if pause > 0 then delay = function() return pause end end
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50_ms":%.4f,"p99_ms":%.4f,"max_ms":%.4f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
