-- What the registry keeps (registry/ownership/rows.h). Slots, identities and keys are in their text form; times are
-- milliseconds since 1970, UTC. Absent values are NULL, also texts that an index holds: `WHERE arn = ?` then finds the
-- index by itself.
--
-- A grant costs the pages that it changes at random places: here one each for the name for people, each name, and uid
-- and slot of the object; ids and numbers grow. A CHECK of three words or more says OR: for IN SQLite fills a table of its
-- own in each statement.
--
-- What belongs to a resource refers to its number. Deferred: checked when the transaction ends, so that no statement
-- needs a journal of its own; but a resource does not go before what belongs to it.

-- Where ownerships count for quotas. `owned` is their number: the triggers below keep it in the same transaction.
CREATE TABLE places (
  id        INTEGER PRIMARY KEY,
  type      TEXT    NOT NULL,
  account   TEXT    NOT NULL,
  region    TEXT    NOT NULL,
  cluster   TEXT    NOT NULL,  -- of the root, as the namespace
  namespace TEXT    NOT NULL,
  owned     INTEGER NOT NULL DEFAULT 0 CHECK (owned >= 0),
  UNIQUE (type, cluster, namespace, account, region)
) STRICT;

CREATE INDEX places_by_namespace ON places (namespace);

-- One row for each resource that has an owner or declarations (I1: one owner for each). The number is SQLite's alone:
-- everywhere else the public id identifies a resource.
CREATE TABLE resources (
  id            INTEGER PRIMARY KEY,
  public_id     TEXT    NOT NULL UNIQUE CHECK (public_id <> ''),
  key           TEXT    NOT NULL CHECK (key <> ''),        -- the name that people are shown; one of `names`
  owned         INTEGER NOT NULL CHECK (owned IN (0, 1)),  -- 0: all below is empty, observers only
  root          TEXT    NOT NULL,
  party         TEXT    NOT NULL,
  service       TEXT    NOT NULL,
  contact       TEXT    NOT NULL,
  arn           TEXT,
  name          TEXT,
  identity      TEXT    NOT NULL,
  shape         TEXT,
  place         INTEGER REFERENCES places (id) DEFERRABLE INITIALLY DEFERRED,
  since         INTEGER NOT NULL,
  real          INTEGER NOT NULL CHECK (real IN (0, 1)),
  record        TEXT    NOT NULL CHECK (record = 'none' OR record = 'orphaned' OR record = 'imported'
                                        OR record = 'transferring'),
  record_reason TEXT    NOT NULL,
  successor     TEXT    NOT NULL,
  state         TEXT    NOT NULL CHECK (state = 'held' OR state = 'reserved' OR state = 'terminating'),
  leaf          TEXT,  -- '': the root
  contested     INTEGER NOT NULL CHECK (contested IN (0, 1)),
  managed_once  INTEGER NOT NULL CHECK (managed_once IN (0, 1)),
  left_slots    TEXT    NOT NULL,  -- one a line
  until         INTEGER,           -- of what a list only reserves
  CHECK (owned = (place IS NOT NULL))
) STRICT;

CREATE INDEX resources_by_name    ON resources (name COLLATE NOCASE) WHERE name IS NOT NULL;
CREATE INDEX resources_by_arn     ON resources (arn)                 WHERE arn IS NOT NULL;
CREATE INDEX resources_by_shape   ON resources (shape)               WHERE shape IS NOT NULL;
CREATE INDEX resources_by_service ON resources (service, place);
CREATE INDEX resources_by_place   ON resources (place)               WHERE place IS NOT NULL;
CREATE INDEX resources_contested  ON resources (key)                 WHERE contested = 1;
CREATE INDEX resources_orphaned   ON resources (key)                 WHERE record = 'orphaned' OR record = 'transferring';
CREATE INDEX resources_imported   ON resources (key)                 WHERE record = 'imported';
CREATE INDEX resources_ending     ON resources (key)                 WHERE until IS NOT NULL;
CREATE INDEX resources_reserved   ON resources (id)                  WHERE state = 'reserved' AND record = 'none'
                                                                       AND owned = 1;

CREATE TRIGGER ownership_is_counted AFTER INSERT ON resources WHEN NEW.place IS NOT NULL
BEGIN
  UPDATE places SET owned = owned + 1 WHERE id = NEW.place;
END;

CREATE TRIGGER ownership_is_counted_anew AFTER UPDATE OF place ON resources WHEN NEW.place IS NOT OLD.place
BEGIN
  UPDATE places SET owned = owned - 1 WHERE id = OLD.place;
  UPDATE places SET owned = owned + 1 WHERE id = NEW.place;
END;

CREATE TABLE declarations (
  resource    INTEGER NOT NULL REFERENCES resources (id) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED,
  uid         TEXT    NOT NULL CHECK (uid <> ''),  -- "cluster/metadata.uid"
  state       TEXT    NOT NULL CHECK (state IN ('reserved', 'seen')),
  object      INTEGER NOT NULL REFERENCES objects (id) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED,  -- of the uid
  slot        TEXT    NOT NULL,
  namespace   TEXT    NOT NULL,  -- of the slot, for limits
  root        TEXT,              -- NULL: the slot itself
  intent      TEXT    NOT NULL CHECK (intent = 'deletes' OR intent = 'manages' OR intent = 'observes'),
  terminating INTEGER NOT NULL CHECK (terminating IN (0, 1)),
  managed     INTEGER NOT NULL CHECK (managed IN (0, 1)),
  identity    TEXT    NOT NULL,
  review      TEXT    NOT NULL,
  digest      TEXT    NOT NULL,
  base        INTEGER,           -- an unsigned 64-bit number, by its bits
  user        TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  created     INTEGER,
  account_fields TEXT NOT NULL,  -- a digest
  PRIMARY KEY (resource, uid, state)
) STRICT, WITHOUT ROWID;

CREATE INDEX declarations_by_object ON declarations (object);
-- By who shares a limit: a namespace, or the user of what is cluster-scoped.
CREATE INDEX declarations_reserved ON declarations (namespace, (CASE WHEN namespace = '' THEN user ELSE '' END), at)
WHERE state = 'reserved';
CREATE INDEX declarations_observing ON declarations (resource) WHERE intent = 'observes';

-- I1, I2: a reservation is an answer "allowed"; while one that manages stands, its resource has an owner. ROLLBACK, not
-- ABORT: the writer takes the whole transaction back, and SQLite keeps no journal of each statement.
CREATE TRIGGER reservation_has_owner BEFORE INSERT ON declarations
WHEN NEW.state = 'reserved' AND NEW.intent <> 'observes'
  AND (SELECT owned FROM resources WHERE id = NEW.resource) IS NOT 1
BEGIN
  SELECT RAISE(ROLLBACK, 'a managing reservation has an owner');
END;

CREATE TRIGGER raised_reservation_has_owner BEFORE UPDATE ON declarations
WHEN NEW.state = 'reserved' AND NEW.intent <> 'observes'
  AND (SELECT owned FROM resources WHERE id = NEW.resource) IS NOT 1
BEGIN
  SELECT RAISE(ROLLBACK, 'a managing reservation has an owner');
END;

CREATE TRIGGER owner_stays_with_reservation BEFORE UPDATE OF owned ON resources
WHEN NEW.owned = 0 AND EXISTS (SELECT 1 FROM declarations
                               WHERE resource = OLD.id AND state = 'reserved' AND intent <> 'observes')
BEGIN
  SELECT RAISE(ROLLBACK, 'a managing reservation has an owner');
END;

-- I13: a name belongs to one resource. While a pass of another catalogue spells names anew, a text may be there twice,
-- as the passes before spelt it and as this one does: the higher number counts.
CREATE TABLE names (
  name     TEXT    NOT NULL CHECK (name <> ''),
  spelling INTEGER NOT NULL,
  resource INTEGER NOT NULL REFERENCES resources (id) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED,
  sort     TEXT    NOT NULL CHECK (sort = 'declared' OR sort = 'located' OR sort = 'assigned'
                                  OR sort = 'former-id'),
  observed INTEGER NOT NULL CHECK (observed IN (0, 1)),  -- 1: known from a status only
  at       INTEGER NOT NULL,
  PRIMARY KEY (name, spelling)
) STRICT, WITHOUT ROWID;

CREATE INDEX names_by_resource ON names (resource);

CREATE TABLE objects (
  id          INTEGER PRIMARY KEY,
  uid         TEXT    NOT NULL UNIQUE CHECK (uid <> ''),
  kind        TEXT    NOT NULL,  -- of the slot: "cluster/group/kind"
  namespace   TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  parent      TEXT,
  parent_uid  TEXT    NOT NULL,
  root        TEXT,              -- NULL: the slot itself
  link        TEXT    NOT NULL,
  names       TEXT    NOT NULL,  -- one a line
  service     TEXT    NOT NULL,
  contact     TEXT    NOT NULL,
  composes    INTEGER NOT NULL CHECK (composes IN (0, 1)),
  own_party   INTEGER NOT NULL CHECK (own_party IN (0, 1)),
  transfer_to TEXT    NOT NULL,
  unproven_marks TEXT    NOT NULL,
  stripped    INTEGER,           -- an unsigned 64-bit number, by its bits
  at          INTEGER NOT NULL
) STRICT;

CREATE INDEX objects_by_slot ON objects (kind, namespace, name);
CREATE INDEX objects_by_parent ON objects (parent) WHERE parent IS NOT NULL;

-- What was settled about a resource beside its ownership (registry/ownership/agreement.h): shares, offered
-- hand-overs, protections. Few and small.
CREATE TABLE agreements (
  id        TEXT    PRIMARY KEY CHECK (id <> ''),
  kind      TEXT    NOT NULL CHECK (kind IN ('share', 'transfer', 'protection')),
  resource  INTEGER NOT NULL REFERENCES resources (id) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED,
  party     TEXT    NOT NULL,
  level     TEXT    NOT NULL CHECK (level IN ('observe', 'attach')),
  accepted  INTEGER NOT NULL CHECK (accepted IN (0, 1)),
  successor TEXT    NOT NULL,
  reason    TEXT    NOT NULL,
  actor     TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  until     INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX agreements_by_resource ON agreements (resource);
CREATE INDEX agreements_by_kind ON agreements (kind, id);

CREATE TABLE settings (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tables beside ownerships: each is described by the struct whose rows it keeps (registry/ownership/table.h), and a
-- contract test compares. Lists stand one a line.

-- Break-glass overrides made while the server runs (webhook/api/override_book.h).
CREATE TABLE overrides (
  id        TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  object    TEXT    NOT NULL,
  namespace TEXT    NOT NULL,
  "group"   TEXT    NOT NULL,
  until     INTEGER NOT NULL,
  reason    TEXT    NOT NULL,
  by        TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

-- Muted findings (webhook/findings/mute_book.h).
CREATE TABLE mutes (
  rule       TEXT    NOT NULL,
  subject    TEXT    NOT NULL,
  severity   TEXT    NOT NULL,
  resource   TEXT    NOT NULL,
  namespaces TEXT    NOT NULL,
  until      INTEGER NOT NULL,
  reason     TEXT    NOT NULL,
  by         TEXT    NOT NULL,
  at         INTEGER NOT NULL,
  PRIMARY KEY (rule, subject)
) STRICT, WITHOUT ROWID;

-- What enforce would have refused; the latest 500 (webhook/api/review_books.h).
CREATE TABLE trial (
  id        TEXT    NOT NULL,
  service   TEXT    NOT NULL,
  rule      TEXT    NOT NULL,
  mode      TEXT    NOT NULL,
  resource  TEXT    NOT NULL,
  "group"   TEXT    NOT NULL,
  kind      TEXT    NOT NULL,
  namespace TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  "user"    TEXT    NOT NULL,
  text      TEXT    NOT NULL,
  first     INTEGER NOT NULL,
  last      INTEGER NOT NULL,
  count     INTEGER NOT NULL,
  PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

-- Who was refused what; the latest 2000 (webhook/api/review_books.h).
CREATE TABLE denials (
  id        TEXT    NOT NULL,
  key       TEXT    NOT NULL,
  resource  TEXT    NOT NULL,
  rule      TEXT    NOT NULL,
  cause     TEXT    NOT NULL,
  "group"   TEXT    NOT NULL,
  kind      TEXT    NOT NULL,
  namespace TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  "user"    TEXT    NOT NULL,
  first     INTEGER NOT NULL,
  last      INTEGER NOT NULL,
  count     INTEGER NOT NULL,
  root      TEXT    NOT NULL,
  PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

-- Findings and denials that a message to the webhook told of, for a day (webhook/publish/notifier.h).
CREATE TABLE notified (
  kind TEXT    NOT NULL,
  id   TEXT    NOT NULL,
  at   INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- How far the watch of each kind has come (webhook/watch/kept.h).
CREATE TABLE watch_positions (
  cluster TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  version TEXT    NOT NULL,
  settled INTEGER,
  PRIMARY KEY (cluster, "group", kind)
) STRICT, WITHOUT ROWID;

-- Where ProviderConfigs lead, of those that are gone too (webhook/watch/kept.h).
CREATE TABLE provider_configs (
  cluster    TEXT    NOT NULL,
  "group"    TEXT    NOT NULL,
  kind       TEXT    NOT NULL,
  namespace  TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  account    TEXT    NOT NULL,
  brought    TEXT    NOT NULL,
  endpoint   TEXT,
  services   TEXT    NOT NULL,
  region     TEXT    NOT NULL,
  deletes    TEXT    NOT NULL,
  retains    TEXT    NOT NULL,
  uid        TEXT    NOT NULL,
  generation TEXT    NOT NULL,
  since      INTEGER NOT NULL,
  PRIMARY KEY (cluster, "group", kind, namespace, name)
) STRICT, WITHOUT ROWID;

-- Kinds that only a mapping rule made readable, and since when none does (webhook/watch/kept.h).
CREATE TABLE mapped_kinds (
  cluster TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  gone    INTEGER,
  PRIMARY KEY (cluster, "group", kind)
) STRICT, WITHOUT ROWID;

-- Which version of tables that one server writes as a whole they have (registry/store/published.h).
CREATE TABLE published (
  part    TEXT    NOT NULL,
  version TEXT    NOT NULL,
  sign    TEXT    NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (part)
) STRICT, WITHOUT ROWID;

-- The ProviderConfigs of the view that reviews of several servers use (webhook/watch/cluster_view.h).
CREATE TABLE viewed_configs (
  "group"   TEXT    NOT NULL,
  kind      TEXT    NOT NULL,
  namespace TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  account   TEXT    NOT NULL,
  endpoint  TEXT,
  services  TEXT    NOT NULL,
  region    TEXT    NOT NULL,
  deletes   TEXT    NOT NULL,
  retains   TEXT    NOT NULL,
  PRIMARY KEY ("group", kind, namespace, name)
) STRICT, WITHOUT ROWID;

-- The kinds that XRDs define: composites, and claims with their composites (webhook/watch/cluster_view.h).
CREATE TABLE definitions (
  "group"         TEXT    NOT NULL,
  kind            TEXT    NOT NULL,
  composite_group TEXT    NOT NULL,
  composite_kind  TEXT    NOT NULL,
  PRIMARY KEY ("group", kind, composite_group, composite_kind)
) STRICT, WITHOUT ROWID;

-- Of what the watch is not sure (webhook/watch/cluster_view.h).
CREATE TABLE watch_gaps (
  sort    TEXT    NOT NULL,
  subject TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  text    TEXT    NOT NULL,
  since   INTEGER,
  PRIMARY KEY (sort, subject, "group", kind)
) STRICT, WITHOUT ROWID;

-- What detectors find at present (webhook/findings/findings_book.h).
CREATE TABLE findings (
  rule       TEXT    NOT NULL,
  subject    TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  severity   TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  objects    TEXT    NOT NULL,
  resource   TEXT    NOT NULL,
  cause      TEXT    NOT NULL,
  evidence   TEXT    NOT NULL,
  remedy     TEXT    NOT NULL,
  since      INTEGER NOT NULL,
  namespaces TEXT    NOT NULL,
  services   TEXT    NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen  INTEGER NOT NULL,
  PRIMARY KEY (rule, subject)
) STRICT, WITHOUT ROWID;

-- Tag wars that run (webhook/api/watch_reports.h).
CREATE TABLE tag_wars (
  key             TEXT    NOT NULL,
  since           INTEGER NOT NULL,
  last            INTEGER NOT NULL,
  writes_per_hour INTEGER NOT NULL,
  writes          INTEGER NOT NULL,
  fighters        TEXT    NOT NULL,
  by_tags         INTEGER NOT NULL,
  PRIMARY KEY (key)
) STRICT, WITHOUT ROWID;

-- What is not protected, and why (webhook/api/watch_reports.h).
CREATE TABLE coverage_gaps (
  reason  TEXT    NOT NULL,
  subject TEXT    NOT NULL,
  why     TEXT    NOT NULL,
  remedy  TEXT    NOT NULL,
  objects INTEGER NOT NULL,
  PRIMARY KEY (reason, subject, why)
) STRICT, WITHOUT ROWID;

-- Followed kinds (webhook/api/watch_reports.h).
CREATE TABLE watched_kinds (
  name          TEXT    NOT NULL,
  "group"       TEXT    NOT NULL,
  version       TEXT    NOT NULL,
  kind          TEXT    NOT NULL,
  plural        TEXT    NOT NULL,
  namespaced    INTEGER NOT NULL,
  role          TEXT    NOT NULL,
  inhabited     INTEGER NOT NULL,
  problem       TEXT    NOT NULL,
  frozen        TEXT    NOT NULL,
  missing       INTEGER NOT NULL,
  waiting       INTEGER,
  recovery_wait TEXT    NOT NULL,
  PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- The numbers of the reports of the watch; one row (webhook/api/watch_reports.h).
CREATE TABLE watch_summary (
  part               TEXT    NOT NULL,
  declaring_kinds    INTEGER NOT NULL,
  protected_kinds    INTEGER NOT NULL,
  xrd_groups         TEXT    NOT NULL,
  missing_xrd_groups TEXT    NOT NULL,
  failure_policy     TEXT    NOT NULL,
  failing_since      INTEGER,
  complete           INTEGER NOT NULL,
  took               INTEGER NOT NULL,
  kinds              INTEGER NOT NULL,
  objects            INTEGER NOT NULL,
  nominated          INTEGER NOT NULL,
  held_back          INTEGER NOT NULL,
  PRIMARY KEY (part)
) STRICT, WITHOUT ROWID;

-- News of the reviews of servers that do not watch, until the one that does takes them (webhook/findings/review_news.h).
CREATE TABLE review_news (
  sort    TEXT    NOT NULL,
  about   TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  uid     TEXT    NOT NULL,
  seen    INTEGER NOT NULL,
  slot    TEXT    NOT NULL,
  PRIMARY KEY (sort, about, "group", uid, seen, slot)
) STRICT, WITHOUT ROWID;

-- Commands for the server that watches, and its answers (webhook/api/orders.h).
CREATE TABLE orders (
  id      TEXT    NOT NULL,
  act     TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  actor   TEXT    NOT NULL,
  reason  TEXT    NOT NULL,
  at      INTEGER NOT NULL,
  state   TEXT    NOT NULL,
  count   INTEGER NOT NULL,
  error   TEXT    NOT NULL,
  message TEXT    NOT NULL,
  PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  seq    INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  action TEXT    NOT NULL CHECK (action = 'granted' OR action = 'conflict' OR action = 'released'
                                 OR action = 'passed' OR action = 'orphaned' OR action = 'transferred'
                                 OR action = 'moved' OR action = 'administered'),
  key    TEXT    NOT NULL,  -- as it was on that day
  id     TEXT,              -- of the resource
  root   TEXT    NOT NULL,
  slot   TEXT    NOT NULL,
  uid    TEXT    NOT NULL,
  cause  TEXT    NOT NULL,
  actor  TEXT    NOT NULL,
  review TEXT    NOT NULL
) STRICT;

-- The history of one resource, without passing over the whole log.
CREATE INDEX audit_by_id ON audit (id) WHERE id IS NOT NULL;

-- I12: the audit log only grows. Retention: the setting audit.let-go names the last line that is older than what is
-- kept (and stands in an exported segment, where one is wanted); writing it lets those lines go, in the same
-- transaction; no other deletion is possible.
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
WHEN OLD.seq > (SELECT coalesce(max(CAST(value AS INTEGER)), 0) FROM settings WHERE name = 'audit.let-go')
  -- The newest line stays: the next one is numbered after it.
  OR OLD.seq >= (SELECT max(seq) FROM audit)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_goes AFTER INSERT ON settings
WHEN NEW.name = 'audit.let-go'
BEGIN
  DELETE FROM audit WHERE seq <= CAST(NEW.value AS INTEGER) AND seq < (SELECT max(seq) FROM audit);
END;

-- How many transactions were committed: tells an older copy from a newer one.
CREATE TABLE commits (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  count INTEGER NOT NULL
) STRICT;

INSERT INTO commits (one, count) VALUES (1, 0);
