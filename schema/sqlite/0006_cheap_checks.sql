-- The same words allowed, said with OR: for "IN" with three words or more SQLite fills a table of its own in each
-- statement, which costs as much as the rest of an insertion. Nothing else changes.

DROP TRIGGER reservation_has_owner;
DROP TRIGGER raised_reservation_has_owner;
DROP TRIGGER owner_stays_with_reservation;
ALTER TABLE declarations RENAME TO declarations_1;
ALTER TABLE resources RENAME TO resources_1;
DROP INDEX declarations_reserved;
DROP INDEX resources_by_shape;
DROP INDEX resources_contested;
DROP INDEX resources_orphaned;
DROP INDEX resources_imported;

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
  record        TEXT    NOT NULL CHECK (record = 'none' OR record = 'orphaned' OR record = 'imported'
                                        OR record = 'transferring'),
  record_reason TEXT    NOT NULL,
  successor     TEXT    NOT NULL,
  state         TEXT    NOT NULL CHECK (state = 'held' OR state = 'reserved' OR state = 'terminating'),
  leaf          TEXT,  -- '': the root
  contested     INTEGER NOT NULL CHECK (contested IN (0, 1))
) STRICT;

INSERT INTO resources SELECT * FROM resources_1 ORDER BY id;

CREATE INDEX resources_by_shape ON resources (shape) WHERE shape <> '';
CREATE INDEX resources_contested ON resources (key) WHERE contested = 1;
CREATE INDEX resources_orphaned ON resources (key) WHERE record IN ('orphaned', 'transferring');
CREATE INDEX resources_imported ON resources (key) WHERE record = 'imported';

CREATE TABLE declarations (
  id          INTEGER PRIMARY KEY,
  -- Deferred: checked when the transaction ends, so that no statement needs a journal of its own.
  resource    INTEGER NOT NULL REFERENCES resources (id) DEFERRABLE INITIALLY DEFERRED,
  uid         TEXT    NOT NULL CHECK (uid <> ''),
  state       TEXT    NOT NULL CHECK (state IN ('reserved', 'seen')),
  slot        TEXT    NOT NULL,
  namespace   TEXT    NOT NULL,  -- of the slot, for caps
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
  UNIQUE (resource, uid, state)
) STRICT;

INSERT INTO declarations SELECT * FROM declarations_1 ORDER BY id;

DROP TABLE declarations_1;
DROP TABLE resources_1;

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

DROP TRIGGER exported_audit_goes;
DROP TRIGGER audit_is_not_changed;
DROP TRIGGER audit_is_not_deleted;
DROP INDEX audit_by_id;
ALTER TABLE audit RENAME TO audit_1;

CREATE TABLE audit (
  seq    INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  action TEXT    NOT NULL CHECK (action = 'granted' OR action = 'conflict' OR action = 'released'
                                 OR action = 'passed' OR action = 'orphaned' OR action = 'transferred'
                                 OR action = 'moved' OR action = 'administered'),
  key    TEXT    NOT NULL,
  id     TEXT    NOT NULL,
  root   TEXT    NOT NULL,
  slot   TEXT    NOT NULL,
  uid    TEXT    NOT NULL,
  cause  TEXT    NOT NULL,
  actor  TEXT    NOT NULL,
  review TEXT    NOT NULL
) STRICT;

INSERT INTO audit SELECT * FROM audit_1 ORDER BY seq;
DROP TABLE audit_1;

CREATE INDEX audit_by_id ON audit (id) WHERE id <> '';

-- I12: the audit log only grows; what was exported goes (0004_audit_retention.sql).
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
WHEN OLD.seq > (SELECT coalesce(max(CAST(value AS INTEGER)), 0) FROM settings WHERE name = 'audit.exported')
  -- The newest line stays: the next one is numbered after it.
  OR OLD.seq >= (SELECT max(seq) FROM audit)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER exported_audit_goes AFTER INSERT ON settings
WHEN NEW.name = 'audit.exported'
BEGIN
  DELETE FROM audit WHERE seq <= CAST(NEW.value AS INTEGER) AND seq < (SELECT max(seq) FROM audit);
END;
