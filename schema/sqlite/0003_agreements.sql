-- What was settled about a resource beside its ownership (registry/ownership/agreement.h): shares, offered
-- hand-overs, protections. Few and small, read by key.
CREATE TABLE agreements (
  id        TEXT    PRIMARY KEY CHECK (id <> ''),
  kind      TEXT    NOT NULL CHECK (kind IN ('share', 'transfer', 'protection')),
  key       TEXT    NOT NULL CHECK (key <> ''),
  party     TEXT    NOT NULL,
  level     TEXT    NOT NULL CHECK (level IN ('observe', 'attach')),
  accepted  INTEGER NOT NULL CHECK (accepted IN (0, 1)),
  successor TEXT    NOT NULL,
  reason    TEXT    NOT NULL,
  actor     TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  until     INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX agreements_by_key ON agreements (key);
