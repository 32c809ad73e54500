-- What the registry keeps (registry/ownership/rows.h). Slots, identities and keys are in their text form;
-- times are milliseconds since 1970, UTC. An absent optional value is NULL, an empty text ''.

CREATE TABLE owners (
  key           TEXT    PRIMARY KEY CHECK (key <> ''),  -- I1: one owner for each key
  id            TEXT    NOT NULL,
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
  leaf          TEXT,
  contested     INTEGER NOT NULL CHECK (contested IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX owners_by_shape ON owners (shape) WHERE shape <> '';

CREATE TABLE declarations (
  key         TEXT    NOT NULL CHECK (key <> ''),
  uid         TEXT    NOT NULL CHECK (uid <> ''),
  state       TEXT    NOT NULL CHECK (state IN ('reserved', 'seen')),
  slot        TEXT    NOT NULL,
  namespace   TEXT    NOT NULL,  -- of the slot, for caps
  root        TEXT    NOT NULL,
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
  PRIMARY KEY (key, uid, state)
) STRICT, WITHOUT ROWID;

CREATE INDEX declarations_by_uid ON declarations (uid);
CREATE INDEX declarations_reserved ON declarations (user, namespace, at) WHERE state = 'reserved';

-- I1, I2: a reservation is an answer "allowed"; while one that manages stands, its key has an owner.
CREATE TRIGGER reservation_has_owner BEFORE INSERT ON declarations
WHEN NEW.state = 'reserved' AND NEW.intent <> 'observes'
  AND NOT EXISTS (SELECT 1 FROM owners WHERE key = NEW.key)
BEGIN
  SELECT RAISE(ABORT, 'a managing reservation has an owner');
END;

CREATE TRIGGER owner_stays_with_reservation BEFORE DELETE ON owners
WHEN EXISTS (SELECT 1 FROM declarations
             WHERE key = OLD.key AND state = 'reserved' AND intent <> 'observes')
BEGIN
  SELECT RAISE(ABORT, 'a managing reservation has an owner');
END;

CREATE TABLE objects (
  uid        TEXT    PRIMARY KEY CHECK (uid <> ''),
  slot       TEXT    NOT NULL,
  parent     TEXT,
  parent_uid TEXT    NOT NULL,
  root       TEXT    NOT NULL,
  link       TEXT    NOT NULL,
  names      TEXT    NOT NULL,  -- one a line
  service    TEXT    NOT NULL,
  contact    TEXT    NOT NULL,
  stripped   INTEGER NOT NULL CHECK (stripped IN (0, 1)),
  at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX objects_by_slot ON objects (slot, at);
CREATE INDEX objects_by_parent ON objects (parent) WHERE parent IS NOT NULL;

CREATE TABLE audit (
  seq    INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  action TEXT    NOT NULL CHECK (action IN ('granted', 'conflict', 'released', 'passed', 'orphaned',
                                            'transferred', 'moved', 'administered')),
  key    TEXT    NOT NULL,
  id     TEXT    NOT NULL,
  root   TEXT    NOT NULL,
  slot   TEXT    NOT NULL,
  uid    TEXT    NOT NULL,
  cause  TEXT    NOT NULL,
  actor  TEXT    NOT NULL,
  review TEXT    NOT NULL
) STRICT;

-- I12: the audit log only grows.
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TABLE settings (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How many transactions were committed: tells a reader whether its memory and its snapshot are one state.
CREATE TABLE commits (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  count INTEGER NOT NULL
) STRICT;

INSERT INTO commits (one, count) VALUES (1, 0);
