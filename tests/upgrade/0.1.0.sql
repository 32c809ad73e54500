PRAGMA application_id = 1414681923;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
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
INSERT INTO "agreements" VALUES('aq4pi4ojj67tg','protection','s3/Bucket|aws|||name=prod-artifacts','','observe',1,'','customer data','operator',1795862037712,NULL);
INSERT INTO "agreements" VALUES('aq4pi4ojj7lyb','share','s3/Bucket|aws|||name=prod-artifacts','ns:local/team-d','observe',1,'','ticket 1','operator',1795862037769,1803638037000);
CREATE TABLE audit (
  seq    INTEGER PRIMARY KEY,
  at     INTEGER NOT NULL,
  action TEXT    NOT NULL CHECK (action = 'granted' OR action = 'conflict' OR action = 'released'
                                 OR action = 'passed' OR action = 'orphaned' OR action = 'transferred'
                                 OR action = 'moved' OR action = 'administered'),
  key    TEXT    NOT NULL,
  id     TEXT,
  root   TEXT    NOT NULL,
  slot   TEXT    NOT NULL,
  uid    TEXT    NOT NULL,
  cause  TEXT    NOT NULL,
  actor  TEXT    NOT NULL,
  review TEXT    NOT NULL
) STRICT;
INSERT INTO "audit" VALUES(1,1795862037593,'granted','s3/Bucket|aws|||name=prod-artifacts','aq4pi4ojj5ban','local/platform.example.org/ObjectStorage/team-a/artifacts','local/platform.example.org/ObjectStorage/team-a/artifacts','local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a01','review 5b9d0c1e-6f0a-4a7e-9c56-0d4f6a1b2c01 CREATE','system:serviceaccount:argocd:argocd-application-controller','5b9d0c1e-6f0a-4a7e-9c56-0d4f6a1b2c01');
INSERT INTO "audit" VALUES(2,1795862037628,'granted','s3/Bucket|aws|||name=payments-prod-bucket','aq4pi4ojj5qjb','local/platform.example.org/ObjectStorage/team-c/statements','local/platform.example.org/ObjectStorage/team-c/statements','local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a05','review 5b9d0c1e-6f0a-4a7e-9c56-0d4f6a1b2c05 CREATE','system:serviceaccount:argocd:argocd-application-controller','5b9d0c1e-6f0a-4a7e-9c56-0d4f6a1b2c05');
INSERT INTO "audit" VALUES(3,1795862037664,'administered','s3/Bucket|aws|||name=prod-artifacts','aq4pi4ojj5ban','local/platform.example.org/ObjectStorage/team-a/artifacts','local/platform.example.org/ObjectStorage/team-a/artifacts','local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a01','confirmed by operator','operator','');
INSERT INTO "audit" VALUES(4,1795862037712,'administered','s3/Bucket|aws|||name=prod-artifacts','aq4pi4ojj5ban','local/platform.example.org/ObjectStorage/team-a/artifacts','////','','protected against deletion: customer data','operator','');
INSERT INTO "audit" VALUES(5,1795862037769,'administered','s3/Bucket|aws|||name=prod-artifacts','aq4pi4ojj5ban','local/platform.example.org/ObjectStorage/team-a/artifacts','////','','shared with namespace team-d at level observe until 2027-02-26T10:33:57Z: ticket 1','operator','');
INSERT INTO "audit" VALUES(6,1795862037836,'administered','',NULL,'////','////','','override of namespace team-z until 2026-11-28T11:33:57Z: ticket 2','operator','');
INSERT INTO "audit" VALUES(7,1795862037917,'released','s3/Bucket|aws|||name=payments-prod-bucket','aq4pi4ojj5qjb','local/platform.example.org/ObjectStorage/team-c/statements','////','','released by operator: ticket 3','operator','');
CREATE TABLE commits (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  count INTEGER NOT NULL
) STRICT;
INSERT INTO "commits" VALUES(1,9);
CREATE TABLE declarations (
  -- Deferred: checked when the transaction ends, so that no statement needs a journal of its own.
  resource    INTEGER NOT NULL REFERENCES resources (id) DEFERRABLE INITIALLY DEFERRED,
  uid         TEXT    NOT NULL CHECK (uid <> ''),  -- "cluster/metadata.uid"
  state       TEXT    NOT NULL CHECK (state IN ('reserved', 'seen')),
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
INSERT INTO "declarations" VALUES(1,'local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a01','seen','local/platform.example.org/ObjectStorage/team-a/artifacts','team-a',NULL,'deletes',0,0,'s3/Bucket|aws||us-west-2|name=prod-artifacts','','',NULL,'',1795862037593,NULL,'');
CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
INSERT INTO "migrations" VALUES(1,'0001_ownership','3f09fc312cec6057eee4182b5f22817676b0843d33b2fb44fb1b6bc1ea120765',1795862037500);
CREATE TABLE names (
  name     TEXT    PRIMARY KEY CHECK (name <> ''),
  resource INTEGER NOT NULL REFERENCES resources (id) DEFERRABLE INITIALLY DEFERRED,
  sort     TEXT    NOT NULL CHECK (sort = 'declared' OR sort = 'located' OR sort = 'assigned'
                                  OR sort = 'former-id'),
  observed INTEGER NOT NULL CHECK (observed IN (0, 1)),  -- 1: known from a status only
  at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
  told        TEXT    NOT NULL,
  stripped    INTEGER,           -- an unsigned 64-bit number, by its bits
  at          INTEGER NOT NULL
) STRICT;
INSERT INTO "objects" VALUES(1,'local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a01','local/platform.example.org/ObjectStorage','team-a','artifacts',NULL,'',NULL,'','','service-a','',0,1,'','',NULL,1795862037593);
INSERT INTO "objects" VALUES(2,'local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a05','local/platform.example.org/ObjectStorage','team-c','statements',NULL,'',NULL,'','','payments','',0,1,'','',NULL,1795862037628);
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
INSERT INTO "places" VALUES(1,'s3/Bucket','','us-west-2','local','team-a',1);
INSERT INTO "places" VALUES(2,'s3/Bucket','','us-west-2','local','team-c',0);
CREATE TABLE resources (
  id            INTEGER PRIMARY KEY,
  key           TEXT    NOT NULL UNIQUE CHECK (key <> ''),
  owned         INTEGER NOT NULL CHECK (owned IN (0, 1)),  -- 0: all below is empty, observers only
  public_id     TEXT,
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
  CHECK (owned = (place IS NOT NULL))
) STRICT;
INSERT INTO "resources" VALUES(1,'s3/Bucket|aws|||name=prod-artifacts',1,'aq4pi4ojj5ban','local/platform.example.org/ObjectStorage/team-a/artifacts','ns:local/team-a','service-a','','arn:aws:s3:::prod-artifacts','prod-artifacts','s3/Bucket|aws||us-west-2|name=prod-artifacts',NULL,1,1795862037593,1,'none','','','held',NULL,0,0,'');
CREATE TABLE settings (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "settings" VALUES('catalogue','ab22592739be408f');
INSERT INTO "settings" VALUES('overrides','[{"at":"2026-11-28T10:33:57Z","by":"operator","group":"","id":"aq4pi4ojj7xzm","name":"","namespace":"team-z","object":"","reason":"ticket 2","until":"2026-11-28T11:33:57Z"}]');
INSERT INTO "settings" VALUES('store/opened','2026-11-28T10:33:57Z');
CREATE INDEX places_by_namespace ON places (namespace);
CREATE INDEX resources_by_id      ON resources (public_id)           WHERE public_id IS NOT NULL;
CREATE INDEX resources_by_name    ON resources (name COLLATE NOCASE) WHERE name IS NOT NULL;
CREATE INDEX resources_by_arn     ON resources (arn)                 WHERE arn IS NOT NULL;
CREATE INDEX resources_by_shape   ON resources (shape)               WHERE shape IS NOT NULL;
CREATE INDEX resources_by_service ON resources (service, place);
CREATE INDEX resources_by_place   ON resources (place)               WHERE place IS NOT NULL;
CREATE INDEX resources_contested  ON resources (key)                 WHERE contested = 1;
CREATE INDEX resources_orphaned   ON resources (key)                 WHERE record = 'orphaned' OR record = 'transferring';
CREATE INDEX resources_imported   ON resources (key)                 WHERE record = 'imported';
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
CREATE INDEX declarations_by_uid ON declarations (uid);
CREATE INDEX declarations_reserved ON declarations (namespace, (CASE WHEN namespace = '' THEN user ELSE '' END), at)
WHERE state = 'reserved';
CREATE INDEX declarations_observing ON declarations (resource) WHERE intent = 'observes';
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
CREATE INDEX names_by_resource ON names (resource);
CREATE TRIGGER name_is_no_key BEFORE INSERT ON names
WHEN EXISTS (SELECT 1 FROM resources WHERE key = NEW.name
             AND (owned = 1 OR EXISTS (SELECT 1 FROM declarations WHERE resource = resources.id)))
BEGIN
  SELECT RAISE(ROLLBACK, 'a name belongs to one resource');
END;
CREATE TRIGGER key_is_no_name BEFORE INSERT ON resources
WHEN EXISTS (SELECT 1 FROM names WHERE name = NEW.key)
BEGIN
  SELECT RAISE(ROLLBACK, 'a name belongs to one resource');
END;
CREATE TRIGGER name_has_its_resource BEFORE DELETE ON resources
WHEN EXISTS (SELECT 1 FROM names WHERE resource = OLD.id)
BEGIN
  SELECT RAISE(ROLLBACK, 'a name has its resource');
END;
CREATE INDEX objects_by_slot ON objects (kind, namespace, name);
CREATE INDEX objects_by_parent ON objects (parent) WHERE parent IS NOT NULL;
CREATE INDEX agreements_by_key ON agreements (key);
CREATE INDEX agreements_by_kind ON agreements (kind, id);
CREATE INDEX audit_by_id ON audit (id) WHERE id IS NOT NULL;
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
COMMIT;
