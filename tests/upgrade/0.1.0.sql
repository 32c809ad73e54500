PRAGMA application_id = 1414681923;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
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
INSERT INTO "agreements" VALUES('aq54wxdjzt7ak','protection',1,'','observe',1,'','customer data','operator',1795972330117,NULL);
INSERT INTO "agreements" VALUES('aq54wxdjzu6gv','share',1,'ns:local/team-d','observe',1,'','ticket 1','operator',1795972330125,1803748330000);
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
INSERT INTO "audit" VALUES(1,1795972330093,'granted','s3/Bucket|aws|||name=prod-artifacts','aq54wxdjzrizj','local/platform.example.org/ObjectStorage/team-a/artifacts','local/platform.example.org/ObjectStorage/team-a/artifacts','local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a01','review 5b9d0c1e-6f0a-4a7e-9c56-0d4f6a1b2c01 CREATE','system:serviceaccount:argocd:argocd-application-controller','5b9d0c1e-6f0a-4a7e-9c56-0d4f6a1b2c01');
INSERT INTO "audit" VALUES(2,1795972330101,'granted','s3/Bucket|aws|||name=payments-prod-bucket','aq54wxdjzrrvt','local/platform.example.org/ObjectStorage/team-c/statements','local/platform.example.org/ObjectStorage/team-c/statements','local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a05','review 5b9d0c1e-6f0a-4a7e-9c56-0d4f6a1b2c05 CREATE','system:serviceaccount:argocd:argocd-application-controller','5b9d0c1e-6f0a-4a7e-9c56-0d4f6a1b2c05');
INSERT INTO "audit" VALUES(3,1795972330108,'administered','s3/Bucket|aws|||name=prod-artifacts','aq54wxdjzrizj','local/platform.example.org/ObjectStorage/team-a/artifacts','local/platform.example.org/ObjectStorage/team-a/artifacts','local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a01','confirmed by operator','operator','');
INSERT INTO "audit" VALUES(4,1795972330117,'administered','s3/Bucket|aws|||name=prod-artifacts','aq54wxdjzrizj','local/platform.example.org/ObjectStorage/team-a/artifacts','////','','protected against deletion: customer data','operator','');
INSERT INTO "audit" VALUES(5,1795972330125,'administered','s3/Bucket|aws|||name=prod-artifacts','aq54wxdjzrizj','local/platform.example.org/ObjectStorage/team-a/artifacts','////','','shared with namespace team-d at level observe until 2027-02-27T17:12:10Z: ticket 1','operator','');
INSERT INTO "audit" VALUES(6,1795972330131,'administered','',NULL,'////','////','','override of namespace team-z until 2026-11-29T18:12:10Z: ticket 2','operator','');
INSERT INTO "audit" VALUES(7,1795972330139,'released','s3/Bucket|aws|||name=payments-prod-bucket','aq54wxdjzrrvt','local/platform.example.org/ObjectStorage/team-c/statements','////','','released by operator: ticket 3','operator','');
CREATE TABLE commits (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  count INTEGER NOT NULL
) STRICT;
INSERT INTO "commits" VALUES(1,10);
CREATE TABLE coverage_gaps (
  reason  TEXT    NOT NULL,
  subject TEXT    NOT NULL,
  why     TEXT    NOT NULL,
  remedy  TEXT    NOT NULL,
  objects INTEGER NOT NULL,
  PRIMARY KEY (reason, subject, why)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "declarations" VALUES(1,'local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a01','seen',1,'local/platform.example.org/ObjectStorage/team-a/artifacts','team-a',NULL,'deletes',0,0,'s3/Bucket|aws||us-west-2|name=prod-artifacts','','',NULL,'',1795972330093,NULL,'');
CREATE TABLE definitions (
  "group"         TEXT    NOT NULL,
  kind            TEXT    NOT NULL,
  composite_group TEXT    NOT NULL,
  composite_kind  TEXT    NOT NULL,
  PRIMARY KEY ("group", kind, composite_group, composite_kind)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "denials" VALUES('dtojuam3q2','s3/Bucket|aws|||name=prod-artifacts','S3 bucket "prod-artifacts"','duplicate-ownership','S3 bucket "prod-artifacts" is owned by service "service-a", declared by ObjectStorage team-a/artifacts.','platform.example.org','ObjectStorage','team-b','artifacts','system:serviceaccount:argocd:argocd-application-controller',1795972330098,1795972330098,1,'local/platform.example.org/ObjectStorage/team-b/artifacts');
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
CREATE TABLE mapped_kinds (
  cluster TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  gone    INTEGER,
  PRIMARY KEY (cluster, "group", kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
INSERT INTO "migrations" VALUES(1,'0001_ownership','2af96afb3fc30f8b4eb4c98d423e02aad08d6ffe9802d94446f34274c4fcd3f7',1795972330069);
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
INSERT INTO "names" VALUES('s3/Bucket|aws|||name=prod-artifacts',0,1,'declared',0,1795972330093);
CREATE TABLE notified (
  kind TEXT    NOT NULL,
  id   TEXT    NOT NULL,
  at   INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
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
  unproven_marks TEXT    NOT NULL,
  stripped    INTEGER,           -- an unsigned 64-bit number, by its bits
  at          INTEGER NOT NULL
) STRICT;
INSERT INTO "objects" VALUES(1,'local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a01','local/platform.example.org/ObjectStorage','team-a','artifacts',NULL,'',NULL,'','','service-a','',0,1,'','',NULL,1795972330093);
INSERT INTO "objects" VALUES(2,'local/0f1c6f6e-5a34-4d0c-8a38-6c2f8f3d1a05','local/platform.example.org/ObjectStorage','team-c','statements',NULL,'',NULL,'','','payments','',0,1,'','',NULL,1795972330101);
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
INSERT INTO "overrides" VALUES('aq54wxdjzumiv','','','team-z','',1795975930000,'ticket 2','operator',1795972330131);
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
CREATE TABLE published (
  part    TEXT    NOT NULL,
  version TEXT    NOT NULL,
  sign    TEXT    NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (part)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "resources" VALUES(1,'aq54wxdjzrizj','s3/Bucket|aws|||name=prod-artifacts',1,'local/platform.example.org/ObjectStorage/team-a/artifacts','ns:local/team-a','service-a','','arn:aws:s3:::prod-artifacts','prod-artifacts','s3/Bucket|aws||us-west-2|name=prod-artifacts',NULL,1,1795972330093,1,'none','','','held',NULL,0,0,'',NULL);
CREATE TABLE review_news (
  sort    TEXT    NOT NULL,
  about   TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  uid     TEXT    NOT NULL,
  seen    INTEGER NOT NULL,
  slot    TEXT    NOT NULL,
  PRIMARY KEY (sort, about, "group", uid, seen, slot)
) STRICT, WITHOUT ROWID;
CREATE TABLE settings (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "settings" VALUES('catalogue','6b7cdc5b81adc103');
INSERT INTO "settings" VALUES('store/opened','2026-11-29T17:12:10Z');
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
CREATE TABLE watch_gaps (
  sort    TEXT    NOT NULL,
  subject TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  text    TEXT    NOT NULL,
  since   INTEGER,
  PRIMARY KEY (sort, subject, "group", kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE watch_positions (
  cluster TEXT    NOT NULL,
  "group" TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  version TEXT    NOT NULL,
  settled INTEGER,
  PRIMARY KEY (cluster, "group", kind)
) STRICT, WITHOUT ROWID;
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
CREATE INDEX places_by_namespace ON places (namespace);
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
CREATE INDEX declarations_by_object ON declarations (object);
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
CREATE INDEX objects_by_slot ON objects (kind, namespace, name);
CREATE INDEX objects_by_parent ON objects (parent) WHERE parent IS NOT NULL;
CREATE INDEX agreements_by_resource ON agreements (resource);
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
