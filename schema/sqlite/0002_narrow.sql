-- Every table becomes a heap to which new rows are appended, and repeats less: a review that grants a
-- new name then changes two pages of indexes at random places (key, slot) instead of five, and few
-- others. Where the rows of a uid stand is known in memory (registry/store/sqlite/signposts.h).

-- One row for each resource key that has an owner or declarations (I1: one owner for each key).
CREATE TABLE resources (
  id            INTEGER PRIMARY KEY,
  key           TEXT    NOT NULL UNIQUE CHECK (key <> ''),
  owned         INTEGER NOT NULL CHECK (owned IN (0, 1)),  -- 0: all below is empty, observers only
  public_id     TEXT    NOT NULL,
  root          TEXT    NOT NULL,
  party         TEXT    NOT NULL,
  service       TEXT    NOT NULL,
  contact       TEXT    NOT NULL,
  arn           TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  identity      TEXT    NOT NULL,
  shape         TEXT    NOT NULL,
  since         INTEGER NOT NULL,
  real          INTEGER NOT NULL CHECK (real IN (0, 1)),
  record        TEXT    NOT NULL CHECK (record IN ('none', 'orphaned', 'imported', 'transferring')),
  record_reason TEXT    NOT NULL,
  successor     TEXT    NOT NULL,
  state         TEXT    NOT NULL CHECK (state IN ('reserved', 'held', 'terminating')),
  leaf          TEXT,  -- '': the root
  contested     INTEGER NOT NULL CHECK (contested IN (0, 1))
) STRICT;

INSERT INTO resources (key, owned, public_id, root, party, service, contact, arn, name, identity, shape,
                       since, real, record, record_reason, successor, state, leaf, contested)
SELECT key, 1, id, root, party, service, contact, arn, name, identity, shape, since, real, record,
       record_reason, successor, state, CASE leaf WHEN root THEN '' ELSE leaf END, contested
FROM owners ORDER BY key;

INSERT INTO resources (key, owned, public_id, root, party, service, contact, arn, name, identity, shape,
                       since, real, record, record_reason, successor, state, leaf, contested)
SELECT DISTINCT key, 0, '', '', '', '', '', '', '', '', '', 0, 0, 'none', '', '', 'reserved', NULL, 0
FROM declarations WHERE key NOT IN (SELECT key FROM owners) ORDER BY key;

CREATE INDEX resources_by_shape ON resources (shape) WHERE shape <> '';
CREATE INDEX resources_contested ON resources (key) WHERE contested = 1;
CREATE INDEX resources_orphaned ON resources (key) WHERE record IN ('orphaned', 'transferring');
CREATE INDEX resources_imported ON resources (key) WHERE record = 'imported';

DROP TRIGGER owner_stays_with_reservation;
DROP TRIGGER reservation_has_owner;
DROP TABLE owners;
ALTER TABLE declarations RENAME TO declarations_1;
DROP INDEX declarations_reserved;

CREATE TABLE declarations (
  id          INTEGER PRIMARY KEY,
  -- Deferred: checked when the transaction ends, so that no statement needs a journal of its own.
  resource    INTEGER NOT NULL REFERENCES resources (id) DEFERRABLE INITIALLY DEFERRED,
  uid         TEXT    NOT NULL CHECK (uid <> ''),
  state       TEXT    NOT NULL CHECK (state IN ('reserved', 'seen')),
  slot        TEXT    NOT NULL,
  namespace   TEXT    NOT NULL,  -- of the slot, for caps
  root        TEXT,              -- NULL: the slot itself
  intent      TEXT    NOT NULL CHECK (intent IN ('observes', 'manages', 'deletes')),
  terminating INTEGER NOT NULL CHECK (terminating IN (0, 1)),
  managed     INTEGER NOT NULL CHECK (managed IN (0, 1)),
  identity    TEXT    NOT NULL,
  review      TEXT    NOT NULL,
  digest      TEXT    NOT NULL,
  base        INTEGER,           -- an unsigned 64-bit number, by its bits
  user        TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  created     INTEGER,
  UNIQUE (resource, uid, state)
) STRICT;

INSERT INTO declarations (resource, uid, state, slot, namespace, root, intent, terminating, managed,
                          identity, review, digest, base, user, at, created)
SELECT resources.id, uid, old.state, slot, namespace, CASE old.root WHEN slot THEN NULL ELSE old.root END,
       intent, terminating, managed, old.identity, review, digest, base, user, at, created
FROM declarations_1 AS old JOIN resources ON resources.key = old.key ORDER BY resources.id;

DROP TABLE declarations_1;

CREATE INDEX declarations_reserved ON declarations (user, namespace, at) WHERE state = 'reserved';

-- I1, I2: a reservation is an answer "allowed"; while one that manages stands, its key has an owner.
-- ROLLBACK, not ABORT: the writer takes the whole transaction back, and SQLite keeps no journal of
-- each statement.
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

ALTER TABLE objects RENAME TO objects_1;
DROP INDEX objects_by_slot;
DROP INDEX objects_by_parent;

CREATE TABLE objects (
  id         INTEGER PRIMARY KEY,
  uid        TEXT    NOT NULL CHECK (uid <> ''),
  kind       TEXT    NOT NULL,  -- of the slot: "cluster/group/kind"
  namespace  TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  parent     TEXT,
  parent_uid TEXT    NOT NULL,
  root       TEXT,              -- NULL: the slot itself
  link       TEXT    NOT NULL,
  names      TEXT    NOT NULL,  -- one a line
  service    TEXT    NOT NULL,
  contact    TEXT    NOT NULL,
  stripped   INTEGER NOT NULL CHECK (stripped IN (0, 1)),
  at         INTEGER NOT NULL
) STRICT;

-- The slot "cluster/group/kind/namespace/name" is cut at its third and fourth "/".
INSERT INTO objects (uid, kind, namespace, name, parent, parent_uid, root, link, names, service, contact,
                     stripped, at)
SELECT uid, substr(slot, 1, third - 1), substr(slot, third + 1, length - 1),
       substr(slot, third + length + 1), parent, parent_uid, CASE root WHEN slot THEN NULL ELSE root END,
       link, names, service, contact, stripped, at
FROM (
  SELECT *, instr(substr(slot, third + 1), '/') AS length
  FROM (
    SELECT *, second + instr(substr(slot, second + 1), '/') AS third
    FROM (
      SELECT *, first + instr(substr(slot, first + 1), '/') AS second
      FROM (SELECT *, instr(slot, '/') AS first FROM objects_1)
    )
  )
)
ORDER BY slot;

DROP TABLE objects_1;

CREATE INDEX objects_by_slot ON objects (kind, namespace, name);
CREATE INDEX objects_by_parent ON objects (parent) WHERE parent IS NOT NULL;
