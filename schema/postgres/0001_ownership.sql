-- What the registry keeps (registry/ownership/rows.h), for PostgreSQL 14 and newer. Slots, identities and keys are in
-- their text form; times are milliseconds since 1970, UTC. An absent optional value is NULL, an empty text ''.
-- Compared texts are in byte order, as the core compares them.

CREATE SCHEMA truce;

CREATE TABLE truce.migrations (
  version  integer PRIMARY KEY,
  name     text    NOT NULL,
  checksum text    NOT NULL  -- SHA-256 of the file, hexadecimal
);

-- One row for each resource that has an owner or declarations. The number is PostgreSQL's alone: everywhere else the
-- public id identifies a resource.
CREATE TABLE truce.resources (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id text   COLLATE "C" NOT NULL UNIQUE CHECK (public_id <> ''),
  key       text   COLLATE "C" NOT NULL CHECK (key <> '')  -- the name that people are shown
);

CREATE INDEX resources_by_key ON truce.resources (key);

-- The arbiter (I13): a name belongs to one resource. While a pass of another catalogue spells names anew, a text may be
-- there twice, as the passes before spelt it and as this one does: the higher number counts.
CREATE TABLE truce.names (
  name     text    COLLATE "C" NOT NULL CHECK (name <> ''),
  spelling bigint  NOT NULL,
  resource bigint  NOT NULL REFERENCES truce.resources (id) DEFERRABLE INITIALLY DEFERRED,
  sort     text    NOT NULL CHECK (sort IN ('declared', 'located', 'assigned', 'former-id')),
  observed boolean NOT NULL,  -- known from a status only
  at       bigint  NOT NULL,
  PRIMARY KEY (name, spelling)
);

CREATE INDEX names_by_resource ON truce.names (resource);

CREATE TABLE truce.owners (
  resource      bigint  PRIMARY KEY REFERENCES truce.resources (id) DEFERRABLE INITIALLY DEFERRED,  -- I1
  root          text    NOT NULL,
  party         text    NOT NULL,
  service       text    NOT NULL,
  contact       text    NOT NULL,
  arn           text    NOT NULL,
  name          text    NOT NULL,
  identity      text    NOT NULL,
  shape         text    COLLATE "C" NOT NULL,
  since         bigint  NOT NULL,
  real          boolean NOT NULL,
  record        text    NOT NULL CHECK (record IN ('none', 'orphaned', 'imported', 'transferring')),
  record_reason text    NOT NULL,
  successor     text    NOT NULL,
  state         text    NOT NULL CHECK (state IN ('held', 'reserved', 'terminating')),
  leaf          text,  -- '': the root
  contested     boolean NOT NULL,
  managed_once  boolean NOT NULL,
  left_slots    text    NOT NULL,  -- one a line
  until         bigint             -- of what a list only reserves
);

CREATE INDEX owners_by_shape ON truce.owners (shape) WHERE shape <> '';
-- Where an ownership counts: type, namespace of the root, account, region.
CREATE INDEX owners_by_place ON truce.owners (
  (split_part(identity, '|', 1) COLLATE "C"),
  ((split_part(root, '/', 1) || '/' || split_part(root, '/', 4)) COLLATE "C"),
  (split_part(identity, '|', 3) COLLATE "C"), (split_part(identity, '|', 4) COLLATE "C"));
-- By what people call them. A tree holds the beginning of a long text, a hash all of it.
CREATE INDEX owners_by_name ON truce.owners (left(lower(name COLLATE "C"), 500));
CREATE INDEX owners_by_arn ON truce.owners USING hash (arn) WHERE arn <> '';
CREATE INDEX owners_by_service ON truce.owners (left(service, 500) COLLATE "C");
CREATE INDEX owners_by_namespace ON truce.owners ((split_part(root, '/', 4) COLLATE "C"));  -- of the root
CREATE INDEX owners_contested ON truce.owners (resource) WHERE contested;
CREATE INDEX owners_ending ON truce.owners (resource) WHERE until IS NOT NULL;
CREATE INDEX owners_recorded ON truce.owners (record) WHERE record <> 'none';

CREATE TABLE truce.objects (
  uid         text    COLLATE "C" PRIMARY KEY CHECK (uid <> ''),  -- "cluster/metadata.uid"
  kind        text    COLLATE "C" NOT NULL,  -- of the slot: "cluster/group/kind"
  namespace   text    COLLATE "C" NOT NULL,
  name        text    COLLATE "C" NOT NULL,
  parent      text    COLLATE "C",
  parent_uid  text    NOT NULL,
  root        text,                          -- NULL: the slot itself
  link        text    NOT NULL,
  names       text    NOT NULL,              -- one a line
  service     text    NOT NULL,
  contact     text    NOT NULL,
  composes    boolean NOT NULL,
  own_party   boolean NOT NULL,
  transfer_to text    NOT NULL,
  unproven_marks text    NOT NULL,
  stripped    bigint,                        -- an unsigned 64-bit number, by its bits
  at          bigint  NOT NULL
);

CREATE INDEX objects_by_slot ON truce.objects ((kind || '/' || namespace || '/' || name));
CREATE INDEX objects_by_kind ON truce.objects (kind, uid);
CREATE INDEX objects_by_parent ON truce.objects (parent) WHERE parent IS NOT NULL;

CREATE TABLE truce.declarations (
  resource       bigint  NOT NULL REFERENCES truce.resources (id) DEFERRABLE INITIALLY DEFERRED,
  uid            text    COLLATE "C" NOT NULL REFERENCES truce.objects (uid) DEFERRABLE INITIALLY DEFERRED,
  state          text    COLLATE "C" NOT NULL CHECK (state IN ('reserved', 'seen')),
  slot           text    NOT NULL,
  namespace      text    COLLATE "C" NOT NULL,  -- of the slot, for limits
  root           text,                          -- NULL: the slot itself
  intent         text    NOT NULL CHECK (intent IN ('deletes', 'manages', 'observes')),
  terminating    boolean NOT NULL,
  managed        boolean NOT NULL,
  identity       text    NOT NULL,
  review         text    NOT NULL,
  digest         text    NOT NULL,
  base           bigint,                        -- an unsigned 64-bit number, by its bits
  "user"         text    COLLATE "C" NOT NULL,
  at             bigint  NOT NULL,
  created        bigint,
  account_fields text    NOT NULL,              -- a digest
  -- I1, I2: a managing reservation, which is an answer "allowed", has an owner. A foreign key and no trigger, since it
  -- sees what runs beside it.
  promised bigint GENERATED ALWAYS AS (CASE WHEN state = 'reserved' AND intent <> 'observes' THEN resource END) STORED
    REFERENCES truce.owners (resource) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (resource, uid, state)
);

CREATE INDEX declarations_by_uid ON truce.declarations (uid);
CREATE INDEX declarations_promised ON truce.declarations (promised) WHERE promised IS NOT NULL;
-- By who shares a limit: a namespace, or the user of what is cluster-scoped; '' stands for the namespace's users.
CREATE INDEX declarations_reserved ON truce.declarations (
  namespace, (CASE WHEN namespace = '' THEN "user" ELSE '' END), at) WHERE state = 'reserved' AND "user" <> '';
CREATE INDEX declarations_observing ON truce.declarations (resource) WHERE intent = 'observes';

-- What was settled about a resource beside its ownership: shares, offered hand-overs, protections.
CREATE TABLE truce.agreements (
  id        text    COLLATE "C" PRIMARY KEY CHECK (id <> ''),
  kind      text    NOT NULL CHECK (kind IN ('share', 'transfer', 'protection')),
  resource  bigint  NOT NULL REFERENCES truce.resources (id) DEFERRABLE INITIALLY DEFERRED,
  party     text    NOT NULL,
  level     text    NOT NULL CHECK (level IN ('observe', 'attach')),
  accepted  boolean NOT NULL,
  successor text    NOT NULL,
  reason    text    NOT NULL,
  actor     text    NOT NULL,
  at        bigint  NOT NULL,
  until     bigint
);

CREATE INDEX agreements_by_resource ON truce.agreements (resource);

CREATE TABLE truce.settings (
  name  text COLLATE "C" PRIMARY KEY CHECK (name <> ''),
  value text NOT NULL
);

-- Tables beside ownerships: each is described by the struct whose rows it keeps (registry/ownership/table.h), and a
-- contract test compares. Lists stand one a line.

-- Break-glass overrides made while the server runs (webhook/api/override_book.h).
CREATE TABLE truce.overrides (
  id        text   COLLATE "C" NOT NULL,
  name      text   NOT NULL,
  object    text   NOT NULL,
  namespace text   NOT NULL,
  "group"   text   NOT NULL,
  until     bigint NOT NULL,
  reason    text   NOT NULL,
  by        text   NOT NULL,
  at        bigint NOT NULL,
  PRIMARY KEY (id)
);

-- Muted findings (webhook/findings/mute_book.h).
CREATE TABLE truce.mutes (
  rule       text   COLLATE "C" NOT NULL,
  subject    text   COLLATE "C" NOT NULL,
  severity   text   NOT NULL,
  resource   text   NOT NULL,
  namespaces text   NOT NULL,
  until      bigint NOT NULL,
  reason     text   NOT NULL,
  by         text   NOT NULL,
  at         bigint NOT NULL,
  PRIMARY KEY (rule, subject)
);

-- What enforce would have refused; the latest 500 (webhook/api/review_books.h).
CREATE TABLE truce.trial (
  id        text   COLLATE "C" NOT NULL,
  service   text   NOT NULL,
  rule      text   NOT NULL,
  mode      text   NOT NULL,
  resource  text   NOT NULL,
  "group"   text   NOT NULL,
  kind      text   NOT NULL,
  namespace text   NOT NULL,
  name      text   NOT NULL,
  "user"    text   NOT NULL,
  text      text   NOT NULL,
  first     bigint NOT NULL,
  last      bigint NOT NULL,
  count     bigint NOT NULL,
  PRIMARY KEY (id)
);

-- Who was refused what; the latest 2000 (webhook/api/review_books.h).
CREATE TABLE truce.denials (
  id        text   COLLATE "C" NOT NULL,
  key       text   NOT NULL,
  resource  text   NOT NULL,
  rule      text   NOT NULL,
  cause     text   NOT NULL,
  "group"   text   NOT NULL,
  kind      text   NOT NULL,
  namespace text   NOT NULL,
  name      text   NOT NULL,
  "user"    text   NOT NULL,
  first     bigint NOT NULL,
  last      bigint NOT NULL,
  count     bigint NOT NULL,
  root      text   NOT NULL,
  PRIMARY KEY (id)
);

-- Findings and denials that a message to the webhook told of, for a day (webhook/publish/notifier.h).
CREATE TABLE truce.notified (
  kind text   COLLATE "C" NOT NULL,
  id   text   COLLATE "C" NOT NULL,
  at   bigint NOT NULL,
  PRIMARY KEY (kind, id)
);

-- How far the watch of each kind has come (webhook/watch/kept.h).
CREATE TABLE truce.watch_positions (
  cluster text   COLLATE "C" NOT NULL,
  "group" text   COLLATE "C" NOT NULL,
  kind    text   COLLATE "C" NOT NULL,
  version text   NOT NULL,
  settled bigint,
  PRIMARY KEY (cluster, "group", kind)
);

-- Where ProviderConfigs lead, of those that are gone too (webhook/watch/kept.h).
CREATE TABLE truce.provider_configs (
  cluster    text   COLLATE "C" NOT NULL,
  "group"    text   COLLATE "C" NOT NULL,
  kind       text   COLLATE "C" NOT NULL,
  namespace  text   COLLATE "C" NOT NULL,
  name       text   COLLATE "C" NOT NULL,
  account    text   NOT NULL,
  brought    text   NOT NULL,
  endpoint   text,
  services   text   NOT NULL,
  region     text   NOT NULL,
  deletes    text   NOT NULL,
  retains    text   NOT NULL,
  uid        text   NOT NULL,
  generation text   NOT NULL,
  since      bigint NOT NULL,
  PRIMARY KEY (cluster, "group", kind, namespace, name)
);

-- Kinds that only a mapping rule made readable, and since when none does (webhook/watch/kept.h).
CREATE TABLE truce.mapped_kinds (
  cluster text   COLLATE "C" NOT NULL,
  "group" text   COLLATE "C" NOT NULL,
  kind    text   COLLATE "C" NOT NULL,
  gone    bigint,
  PRIMARY KEY (cluster, "group", kind)
);

-- Which version of tables that one server writes as a whole they have (registry/store/published.h).
CREATE TABLE truce.published (
  part    text   COLLATE "C" NOT NULL,
  version text   NOT NULL,
  sign    text   NOT NULL,
  at      bigint NOT NULL,
  PRIMARY KEY (part)
);

-- The ProviderConfigs of the view that reviews of several servers use (webhook/watch/cluster_view.h).
CREATE TABLE truce.viewed_configs (
  "group"   text   COLLATE "C" NOT NULL,
  kind      text   COLLATE "C" NOT NULL,
  namespace text   COLLATE "C" NOT NULL,
  name      text   COLLATE "C" NOT NULL,
  account   text   NOT NULL,
  endpoint  text,
  services  text   NOT NULL,
  region    text   NOT NULL,
  deletes   text   NOT NULL,
  retains   text   NOT NULL,
  PRIMARY KEY ("group", kind, namespace, name)
);

-- The kinds that XRDs define: composites, and claims with their composites (webhook/watch/cluster_view.h).
CREATE TABLE truce.definitions (
  "group"         text   COLLATE "C" NOT NULL,
  kind            text   COLLATE "C" NOT NULL,
  composite_group text   COLLATE "C" NOT NULL,
  composite_kind  text   COLLATE "C" NOT NULL,
  PRIMARY KEY ("group", kind, composite_group, composite_kind)
);

-- Of what the watch is not sure (webhook/watch/cluster_view.h).
CREATE TABLE truce.watch_gaps (
  sort    text   COLLATE "C" NOT NULL,
  subject text   COLLATE "C" NOT NULL,
  "group" text   COLLATE "C" NOT NULL,
  kind    text   COLLATE "C" NOT NULL,
  text    text   NOT NULL,
  since   bigint,
  PRIMARY KEY (sort, subject, "group", kind)
);

-- What detectors find at present (webhook/findings/findings_book.h).
CREATE TABLE truce.findings (
  rule       text   COLLATE "C" NOT NULL,
  subject    text   COLLATE "C" NOT NULL,
  id         text   NOT NULL,
  severity   text   NOT NULL,
  key        text   NOT NULL,
  objects    text   NOT NULL,
  resource   text   NOT NULL,
  cause      text   NOT NULL,
  evidence   text   NOT NULL,
  remedy     text   NOT NULL,
  since      bigint NOT NULL,
  namespaces text   NOT NULL,
  services   text   NOT NULL,
  first_seen bigint NOT NULL,
  last_seen  bigint NOT NULL,
  PRIMARY KEY (rule, subject)
);

-- Tag wars that run (webhook/api/watch_reports.h).
CREATE TABLE truce.tag_wars (
  key             text   COLLATE "C" NOT NULL,
  since           bigint NOT NULL,
  last            bigint NOT NULL,
  writes_per_hour bigint NOT NULL,
  writes          bigint NOT NULL,
  fighters        text   NOT NULL,
  by_tags         bigint NOT NULL,
  PRIMARY KEY (key)
);

-- What is not protected, and why (webhook/api/watch_reports.h).
CREATE TABLE truce.coverage_gaps (
  reason  text   COLLATE "C" NOT NULL,
  subject text   COLLATE "C" NOT NULL,
  why     text   COLLATE "C" NOT NULL,
  remedy  text   NOT NULL,
  objects bigint NOT NULL,
  PRIMARY KEY (reason, subject, why)
);

-- Followed kinds (webhook/api/watch_reports.h).
CREATE TABLE truce.watched_kinds (
  name          text   COLLATE "C" NOT NULL,
  "group"       text   NOT NULL,
  version       text   NOT NULL,
  kind          text   NOT NULL,
  plural        text   NOT NULL,
  namespaced    bigint NOT NULL,
  role          text   NOT NULL,
  inhabited     bigint NOT NULL,
  problem       text   NOT NULL,
  frozen        text   NOT NULL,
  missing       bigint NOT NULL,
  waiting       bigint,
  recovery_wait text   NOT NULL,
  PRIMARY KEY (name)
);

-- The numbers of the reports of the watch; one row (webhook/api/watch_reports.h).
CREATE TABLE truce.watch_summary (
  part               text   COLLATE "C" NOT NULL,
  declaring_kinds    bigint NOT NULL,
  protected_kinds    bigint NOT NULL,
  xrd_groups         text   NOT NULL,
  missing_xrd_groups text   NOT NULL,
  failure_policy     text   NOT NULL,
  failing_since      bigint,
  complete           bigint NOT NULL,
  took               bigint NOT NULL,
  kinds              bigint NOT NULL,
  objects            bigint NOT NULL,
  nominated          bigint NOT NULL,
  held_back          bigint NOT NULL,
  PRIMARY KEY (part)
);

-- News of the reviews of servers that do not watch, until the one that does takes them (webhook/findings/review_news.h).
CREATE TABLE truce.review_news (
  sort    text   COLLATE "C" NOT NULL,
  about   text   COLLATE "C" NOT NULL,
  "group" text   COLLATE "C" NOT NULL,
  uid     text   COLLATE "C" NOT NULL,
  seen    bigint NOT NULL,
  slot    text   COLLATE "C" NOT NULL,
  PRIMARY KEY (sort, about, "group", uid, seen, slot)
);

-- Commands for the server that watches, and its answers (webhook/api/orders.h).
CREATE TABLE truce.orders (
  id      text   COLLATE "C" NOT NULL,
  act     text   NOT NULL,
  "group" text   NOT NULL,
  kind    text   NOT NULL,
  actor   text   NOT NULL,
  reason  text   NOT NULL,
  at      bigint NOT NULL,
  state   text   NOT NULL,
  count   bigint NOT NULL,
  error   text   NOT NULL,
  message text   NOT NULL,
  PRIMARY KEY (id)
);

-- Whose transactions are counted: one row. A database that stands on another server, or on one that was failed over,
-- restored or started anew, is another incarnation: its transactions may begin anew with small numbers.
CREATE TABLE truce.registry (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  incarnation bigint  NOT NULL,
  place       text    NOT NULL  -- server of the incarnation: timeline, start, database
);

INSERT INTO truce.registry (incarnation, place) VALUES (0, '');

-- Where this session is. Only functions that every user may call, also where the server is managed by others.
CREATE FUNCTION truce.place() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || ' ' || extract(epoch FROM pg_postmaster_start_time())
         || ' ' || (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
$$;

-- To be called with each new connection, before it writes: begins another incarnation where this is another place.
-- Answers the place.
CREATE FUNCTION truce.arrive() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  here text := truce.place();
BEGIN
  IF EXISTS (SELECT FROM truce.registry r WHERE r.place <> here) THEN
    UPDATE truce.registry r SET incarnation = r.incarnation + 1, place = here WHERE r.place <> here;
  END IF;
  RETURN here;
END $$;

-- Read in the order of incarnation, tx, number up to the oldest transaction that runs, no line is missed: numbers are
-- given before commits, which come in any order.
CREATE TABLE truce.audit (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incarnation bigint NOT NULL,
  tx     xid8   NOT NULL DEFAULT pg_current_xact_id(),
  at     bigint NOT NULL,
  action text   NOT NULL CHECK (action IN ('granted', 'conflict', 'released', 'passed', 'orphaned', 'transferred',
                                           'moved', 'administered')),
  key    text   NOT NULL,              -- as it was on that day
  id     text   COLLATE "C" NOT NULL,  -- of the resource
  root   text   NOT NULL,
  slot   text   NOT NULL,
  uid    text   NOT NULL,
  cause  text   NOT NULL,
  actor  text   NOT NULL,
  review text   NOT NULL
);

CREATE INDEX audit_by_place ON truce.audit (incarnation, tx, number);
CREATE INDEX audit_by_id ON truce.audit (id, incarnation, tx, number) WHERE id <> '';

-- I12: the audit log only grows. Retention: the setting audit.let-go names the last line that may go; the newest stays.
CREATE FUNCTION truce.keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.number <= (SELECT value::bigint FROM truce.settings WHERE name = 'audit.let-go')
     AND OLD.number < (SELECT max(number) FROM truce.audit) THEN
    RETURN OLD;
  END IF;
  RAISE integrity_constraint_violation USING MESSAGE = 'the audit log is append-only';
END $$;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE ON truce.audit
FOR EACH ROW EXECUTE FUNCTION truce.keep_audit();

-- Runs with the rights of the tables' owner: who grants may not delete lines.
CREATE FUNCTION truce.let_audit_go() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  DELETE FROM truce.audit
  WHERE number <= (SELECT value::bigint FROM truce.settings WHERE name = 'audit.let-go')
    AND number < (SELECT max(number) FROM truce.audit)
$$;

-- The next line gets this number, of a registry that moves here from another store: numbers only grow.
CREATE FUNCTION truce.number_audit_from(first bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF first <= coalesce((SELECT max(number) FROM truce.audit), 0) THEN
    RAISE unique_violation USING MESSAGE = 'the audit log has this number, or a later one';
  END IF;
  PERFORM setval(pg_get_serial_sequence('truce.audit', 'number'), first, false);
END $$;

-- Who may do what one program, or several that share it, may do: be an active server (`registry`), and write what the
-- cluster shows (`watch`). Decisions carry the epochs under which they run; once a lease has a newer one they are refused.
CREATE TABLE truce.lease (
  sort    text        PRIMARY KEY CHECK (sort IN ('registry', 'watch')),
  epoch   bigint      NOT NULL,
  holder  text        NOT NULL,  -- the one, or the latest that joined those that share it
  shared  text,                  -- what all say that share it; NULL: nobody does
  expires timestamptz NOT NULL   -- of those that share it each has its own, in `replicas`
);

-- The servers that share `registry`, and those that want to. Two that say another word than each other make two keys of
-- one resource, so they are never active at a time: what the latest announced is what all wait for.
CREATE TABLE truce.replicas (
  holder    text COLLATE "C" PRIMARY KEY,
  word      text        NOT NULL,
  announced timestamptz NOT NULL,  -- when it first said this word; they differ
  epoch     bigint,                -- of `registry`, under which it is active; NULL: it is not
  expires   timestamptz NOT NULL
);

-- What is to be said: the word of the latest announcement of a server that lives; NULL: none does.
CREATE FUNCTION truce.wanted() RETURNS truce.replicas LANGUAGE sql VOLATILE AS $$
  SELECT * FROM truce.replicas WHERE expires > clock_timestamp() ORDER BY announced DESC, holder DESC LIMIT 1
$$;

-- An epoch that no lease ever had: neither this one, nor one of a copy of this database that was gone before this one was
-- restored, or failed over to. Counting alone would give it again.
CREATE FUNCTION truce.new_epoch(last bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT greatest(last + 1, floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
$$;

-- Makes `a_holder` the only holder for so many seconds and answers its epoch, when all decisions have ended that carry this
-- lease's epoch (of `registry` all do). While somebody else's lease runs, answers whose it is and for how long. Waits for
-- decisions so many milliseconds.
CREATE FUNCTION truce.take_lease(a_sort text, a_holder text, a_seconds integer, wait_ms integer)
RETURNS TABLE (epoch bigint, other text, left_ms bigint) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  is_alone boolean := false;  -- no such decision runs
BEGIN
  PERFORM set_config('lock_timeout', wait_ms::text, true);
  LOOP
    RETURN QUERY
      SELECT NULL::bigint, h.holder, ceil(extract(epoch FROM h.expires - clock_timestamp()) * 1000)::bigint
      FROM (
        SELECT l.holder, l.expires FROM truce.lease l
        WHERE l.sort = a_sort AND l.shared IS NULL AND l.holder <> a_holder
        UNION ALL
        SELECT r.holder, r.expires FROM truce.lease l JOIN truce.replicas r ON r.epoch = l.epoch
        WHERE l.sort = a_sort AND a_sort = 'registry') AS h (holder, expires)
      WHERE h.expires > clock_timestamp() ORDER BY 3 DESC LIMIT 1;
    IF FOUND THEN
      RETURN;
    END IF;
    EXIT WHEN is_alone;
    PERFORM pg_advisory_xact_lock(1414681923, CASE a_sort WHEN 'registry' THEN 0 ELSE 3 END);
    is_alone := true;
  END LOOP;
  RETURN QUERY
    INSERT INTO truce.lease AS l (sort, epoch, holder, shared, expires)
    VALUES (a_sort, truce.new_epoch(0), a_holder, NULL, clock_timestamp() + make_interval(secs => a_seconds))
    ON CONFLICT (sort) DO UPDATE SET epoch = truce.new_epoch(l.epoch), holder = excluded.holder, shared = NULL,
      expires = excluded.expires
    RETURNING l.epoch, NULL::text, NULL::bigint;
END $$;

-- Announces `a_holder` and makes it one of the active servers for so many seconds: beside those that say the same word,
-- under their epoch; else, when nobody else is active and all decisions have ended, under a newer one. While servers are
-- active that say another thing behind " of ", which is no other version of this one, it is not announced. While another word
-- is wanted, or a server that says another one is still active, answers which server that is and for how long.
CREATE FUNCTION truce.share_lease(a_holder text, a_seconds integer, a_word text, wait_ms integer)
RETURNS TABLE (epoch bigint, other text, left_ms bigint) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  held truce.lease%ROWTYPE;
  is_alone boolean := false;  -- no decision runs
BEGIN
  PERFORM set_config('lock_timeout', wait_ms::text, true);
  DELETE FROM truce.replicas r WHERE r.expires < clock_timestamp() - interval '1 day';
  RETURN QUERY
    SELECT NULL::bigint, r.holder, ceil(extract(epoch FROM r.expires - clock_timestamp()) * 1000)::bigint
    FROM truce.lease l JOIN truce.replicas r ON r.epoch = l.epoch
    WHERE l.sort = 'registry' AND r.expires > clock_timestamp()
      AND split_part(r.word, ' of ', 2) <> split_part(a_word, ' of ', 2)
    ORDER BY 3 DESC LIMIT 1;
  IF FOUND THEN
    RETURN;
  END IF;
  INSERT INTO truce.replicas AS r (holder, word, announced, epoch, expires)
  VALUES (a_holder, a_word,
          greatest(clock_timestamp(), (SELECT max(o.announced) FROM truce.replicas o) + interval '1 microsecond'), NULL,
          clock_timestamp() + make_interval(secs => a_seconds))
  -- Who starts again is no later for that, or one that was on its way out would come back.
  ON CONFLICT (holder) DO UPDATE SET word = excluded.word, epoch = NULL, expires = excluded.expires,
    announced = CASE WHEN r.word = excluded.word THEN r.announced ELSE excluded.announced END;
  LOOP
    SELECT * INTO held FROM truce.lease l WHERE l.sort = 'registry';
    RETURN QUERY
      SELECT NULL::bigint, h.holder, ceil(extract(epoch FROM h.expires - clock_timestamp()) * 1000)::bigint
      FROM (
        SELECT held.holder, held.expires WHERE held.shared IS NULL AND held.holder <> a_holder
        UNION ALL
        SELECT r.holder, r.expires FROM truce.replicas r WHERE r.word <> a_word AND r.epoch = held.epoch
        UNION ALL
        SELECT w.holder, w.expires FROM truce.wanted() AS w WHERE w.word <> a_word) AS h (holder, expires)
      WHERE h.expires > clock_timestamp() ORDER BY 3 DESC LIMIT 1;
    IF FOUND THEN
      RETURN;
    END IF;
    IF held.shared = a_word THEN
      UPDATE truce.lease l SET holder = a_holder WHERE l.sort = 'registry' AND l.epoch = held.epoch;
      IF FOUND THEN
        UPDATE truce.replicas r SET epoch = held.epoch WHERE r.holder = a_holder;
        RETURN QUERY SELECT held.epoch, NULL::text, NULL::bigint;
        RETURN;
      END IF;
      CONTINUE;
    END IF;
    EXIT WHEN is_alone;
    PERFORM pg_advisory_xact_lock(1414681923, 0);
    is_alone := true;
  END LOOP;
  INSERT INTO truce.lease AS l (sort, epoch, holder, shared, expires)
  VALUES ('registry', truce.new_epoch(0), a_holder, a_word, clock_timestamp())
  ON CONFLICT (sort) DO UPDATE SET epoch = truce.new_epoch(l.epoch), holder = excluded.holder, shared = excluded.shared,
    expires = excluded.expires
  RETURNING l.epoch INTO held.epoch;
  UPDATE truce.replicas r SET epoch = held.epoch WHERE r.holder = a_holder;
  RETURN QUERY SELECT held.epoch, NULL::text, NULL::bigint;
END $$;

-- A sign of life of a server that shares, for so many seconds. Answers whether it is active under `a_epoch`: no longer
-- while another word is wanted (`other`: by whom); `is_lost`: it never will be under this epoch, others have a newer one,
-- and nobody wants another word than this server's. `beside`: how many others are active under it.
CREATE FUNCTION truce.renew_share(a_holder text, a_seconds integer, a_epoch bigint)
RETURNS TABLE (is_active integer, is_lost integer, other text, now_ms bigint, beside bigint) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  own truce.replicas%ROWTYPE;
  wanted truce.replicas%ROWTYPE;
  is_newest boolean;
BEGIN
  UPDATE truce.replicas r SET expires = clock_timestamp() + make_interval(secs => a_seconds)
  WHERE r.holder = a_holder RETURNING r.* INTO own;
  SELECT * INTO wanted FROM truce.wanted();
  is_newest := own.holder IS NOT NULL
    AND EXISTS (SELECT FROM truce.lease l WHERE l.sort = 'registry' AND l.epoch = a_epoch AND l.shared = own.word);
  is_active := (is_newest AND wanted.word = own.word)::integer;
  is_lost := (NOT is_newest AND (own.holder IS NULL OR wanted.word = own.word))::integer;
  other := CASE WHEN wanted.word <> own.word THEN wanted.holder END;
  now_ms := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  UPDATE truce.replicas r SET epoch = CASE is_active WHEN 1 THEN a_epoch END
  WHERE r.holder = a_holder AND r.epoch IS DISTINCT FROM CASE is_active WHEN 1 THEN a_epoch END;
  beside := (SELECT count(*) FROM truce.replicas r
             WHERE r.holder <> a_holder AND r.epoch = a_epoch AND r.expires > clock_timestamp());
  RETURN NEXT;
END $$;

-- Everything that is known under the names, resources, uids, slots, settings and agreement ids that are asked for, locked
-- before; a_quotas: names of counts, which are locked alone, and counted by the statements behind this one. A name brings
-- along the resource that it names: that one's lock is found out of order, so it is only tried, and the resource left out
-- while somebody holds it. One round trip.
-- `mode`: 'look' locks nothing; 'begin' waits for the locks, in the order of their numbers; 'more' tries them, and answers
-- one row, what = -1, when somebody holds one; 'whole' locks everything, and reads after that are 'look'. Every statement
-- sees what was committed before it began, so what is read under a lock stays as it is read. Never locked: a_reserved,
-- whose reservations are counted (namespace, user, '' where there is a namespace, limit); a_shapes, of which owners are
-- brought (shape, limit); a_proposed, names of which is told whether somebody owns them.
-- `what` says which question a row answers, `place` for which of these last ones, from 0 on; its columns follow
-- (registry/store/postgres/records.h). `a_epoch`: of the active server; NULL: there is none. `a_watch`: of the watch, whose
-- decisions hold off who takes that over; NULL: this is none of them.
CREATE FUNCTION truce.take(mode text, wait_ms integer, a_names text[], a_resources text[], a_uids text[], a_slots text[],
                           a_settings text[], a_agreements text[], a_quotas text[], a_reserved text[],
                           a_shapes text[], a_proposed text[], a_epoch bigint, a_watch bigint)
RETURNS TABLE (what integer, place integer, c0 text, c1 text, c2 text, c3 text, c4 text, c5 text, c6 text, c7 text,
               c8 text, c9 text, c10 text, c11 text, c12 text, c13 text, c14 text, c15 text, c16 text, c17 text,
               c18 text, c19 text, c20 text)
LANGUAGE plpgsql VOLATILE
-- One plan for all calls, which lives as long as its connection: made while a table was small, it must not read all of a
-- large one. So each name is looked up by itself (OFFSET 0). (A plan for the very arrays would be made at each call, and
-- looks for each element from the first one on.)
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off AS $$
#variable_conflict use_column
DECLARE
  lock bigint;
  numbers bigint[];
  locks_each boolean := mode IN ('begin', 'more');
BEGIN
  IF mode IN ('begin', 'whole') THEN
    PERFORM set_config('lock_timeout', wait_ms::text, true);
    -- A program that stopped in the middle gives back what it locks; who may take minutes may think for longer.
    PERFORM set_config('idle_in_transaction_session_timeout', greatest(5000, least(60000, wait_ms / 10))::text, true);
  END IF;
  IF mode = 'whole' THEN
    PERFORM pg_advisory_xact_lock(1414681923, 0);
  ELSIF mode = 'begin' THEN
    PERFORM pg_advisory_xact_lock_shared(1414681923, 0);
  END IF;
  IF mode <> 'more' AND a_epoch IS NOT NULL
     AND NOT EXISTS (SELECT FROM truce.lease l WHERE l.sort = 'registry' AND l.epoch = a_epoch) THEN
    RAISE EXCEPTION USING ERRCODE = 'TR001', MESSAGE = 'another server has become active on this registry';
  END IF;
  IF mode IN ('begin', 'whole') AND a_watch IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock_shared(1414681923, 3);
    IF NOT EXISTS (SELECT FROM truce.lease l WHERE l.sort = 'watch' AND l.epoch = a_watch) THEN
      RAISE EXCEPTION USING ERRCODE = 'TR001', MESSAGE = 'another server has taken over the watch of the cluster';
    END IF;
  END IF;
  IF locks_each THEN
    numbers := ARRAY(
      SELECT DISTINCT hashtextextended(t, 0) FROM (
        SELECT 'n/' || t FROM unnest(a_names) AS t
        UNION ALL SELECT 'r/' || t FROM unnest(a_resources) AS t
        UNION ALL SELECT 'u/' || t FROM unnest(a_uids) AS t
        UNION ALL SELECT 's/' || t FROM unnest(a_slots) AS t
        UNION ALL SELECT 'g/' || t FROM unnest(a_settings) AS t
        UNION ALL SELECT 'a/' || t FROM unnest(a_agreements) AS t
        UNION ALL SELECT 'q/' || t FROM unnest(a_quotas) AS t) AS named (t)
      ORDER BY 1);
    FOREACH lock IN ARRAY numbers LOOP
      IF mode = 'begin' THEN
        PERFORM pg_advisory_xact_lock(lock);
      ELSIF NOT pg_try_advisory_xact_lock(lock) THEN
        RETURN QUERY SELECT -1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL, NULL, NULL, NULL, NULL, NULL, NULL;
        RETURN;
      END IF;
    END LOOP;
  END IF;
  IF cardinality(a_names) > 0 THEN
    RETURN QUERY
      SELECT 0, 0, n.name, r.public_id, n.sort, n.observed::integer::text, n.at::text, n.spelling::text, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM unnest(a_names) AS a (name) CROSS JOIN LATERAL (
        SELECT m.* FROM truce.names m WHERE m.name = a.name ORDER BY m.spelling DESC) AS n
      JOIN truce.resources r ON r.id = n.resource;
    a_resources := ARRAY(
      SELECT unnest(a_resources)
      UNION
      SELECT r.public_id
      FROM unnest(a_names) AS a (name) CROSS JOIN LATERAL (
        SELECT m.* FROM truce.names m WHERE m.name = a.name ORDER BY m.spelling DESC) AS n
      CROSS JOIN LATERAL (SELECT m.* FROM truce.resources m WHERE m.id = n.resource OFFSET 0) AS r
      WHERE NOT locks_each OR pg_try_advisory_xact_lock(hashtextextended('r/' || r.public_id, 0)));
  END IF;
  IF cardinality(a_resources) > 0 THEN
    RETURN QUERY
      SELECT 1, 0, n.name, r.public_id, n.sort, n.observed::integer::text, n.at::text, n.spelling::text, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM unnest(a_resources) AS a (id) CROSS JOIN LATERAL (
        SELECT m.* FROM truce.resources m WHERE m.public_id = a.id OFFSET 0) AS r
      JOIN truce.names n ON n.resource = r.id;
    RETURN QUERY
      SELECT 2, 0, r.key, o.until::text, r.public_id, o.root, o.party, o.service, o.contact, o.arn, o.name, o.identity, o.shape,
             o.since::text, o.real::integer::text, o.record, o.record_reason, o.successor, o.state, o.leaf,
             o.contested::integer::text, o.managed_once::integer::text, o.left_slots
      FROM unnest(a_resources) AS a (id) CROSS JOIN LATERAL (
        SELECT m.* FROM truce.resources m WHERE m.public_id = a.id OFFSET 0) AS r
      JOIN truce.owners o ON o.resource = r.id;
    RETURN QUERY
      SELECT 3, 0, r.public_id, d.uid, d.state, d.slot, d.root, d.intent, d.terminating::integer::text,
             d.managed::integer::text, d.identity, d.review, d.digest, d.base::text, d."user", d.at::text,
             d.created::text, d.account_fields, NULL, NULL, NULL, NULL, NULL
      FROM unnest(a_resources) AS a (id) CROSS JOIN LATERAL (
        SELECT m.* FROM truce.resources m WHERE m.public_id = a.id OFFSET 0) AS r
      JOIN truce.declarations d ON d.resource = r.id;
    RETURN QUERY
      SELECT 4, 0, g.id, g.kind, r.public_id, g.party, g.level, g.accepted::integer::text, g.successor, g.reason,
             g.actor, g.at::text, g.until::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM unnest(a_resources) AS a (id) CROSS JOIN LATERAL (
        SELECT m.* FROM truce.resources m WHERE m.public_id = a.id OFFSET 0) AS r
      JOIN truce.agreements g ON g.resource = r.id;
  END IF;
  IF cardinality(a_uids) > 0 THEN
    RETURN QUERY
      SELECT 5, 0, r.public_id, d.uid, d.state, d.slot, d.root, d.intent, d.terminating::integer::text,
             d.managed::integer::text, d.identity, d.review, d.digest, d.base::text, d."user", d.at::text,
             d.created::text, d.account_fields, NULL, NULL, NULL, NULL, NULL
      FROM unnest(a_uids) AS a (uid) JOIN truce.declarations d ON d.uid = a.uid
      JOIN truce.resources r ON r.id = d.resource;
  END IF;
  IF cardinality(a_uids) > 0 OR cardinality(a_slots) > 0 THEN
    RETURN QUERY
      SELECT f.what, 0, o.uid, o.kind, o.namespace, o.name, o.parent, o.parent_uid, o.root, o.link, o.names, o.service,
             o.contact, o.composes::integer::text, o.own_party::integer::text, o.transfer_to, o.unproven_marks,
             o.stripped::text, o.at::text, NULL, NULL, NULL, NULL
      FROM (
        SELECT 6, o.uid FROM unnest(a_uids) AS a (uid) JOIN truce.objects o ON o.uid = a.uid
        UNION ALL
        SELECT 7, y.uid FROM unnest(a_slots) AS a (slot) CROSS JOIN LATERAL (
          SELECT o.uid FROM truce.objects o WHERE (o.kind || '/' || o.namespace || '/' || o.name) = a.slot
          ORDER BY o.at DESC, o.uid DESC LIMIT 1) AS y
        UNION ALL
        SELECT 8, o.uid FROM unnest(a_slots) AS a (slot) JOIN truce.objects o ON o.parent = a.slot
      ) AS f (what, uid) JOIN truce.objects o ON o.uid = f.uid;
  END IF;
  IF cardinality(a_settings) > 0 THEN
    RETURN QUERY
      SELECT 9, 0, s.name, s.value, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL
      FROM unnest(a_settings) AS a (name) JOIN truce.settings s ON s.name = a.name;
  END IF;
  IF cardinality(a_agreements) > 0 THEN
    RETURN QUERY
      SELECT 10, 0, g.id, g.kind, r.public_id, g.party, g.level, g.accepted::integer::text, g.successor, g.reason,
             g.actor, g.at::text, g.until::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM unnest(a_agreements) AS a (id) JOIN truce.agreements g ON g.id = a.id
      JOIN truce.resources r ON r.id = g.resource;
  END IF;
  IF cardinality(a_reserved) > 0 THEN
    RETURN QUERY
      SELECT 11, i / 3, c.number::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM generate_series(1, cardinality(a_reserved), 3) AS i CROSS JOIN LATERAL (
        SELECT count(*) AS number FROM (
          SELECT FROM truce.declarations d
          WHERE d.state = 'reserved' AND d."user" <> '' AND d.namespace = a_reserved[i]
            AND (CASE WHEN d.namespace = '' THEN d."user" ELSE '' END) = a_reserved[i + 1]
          LIMIT a_reserved[i + 2]::bigint) AS counted OFFSET 0) AS c;
  END IF;
  IF cardinality(a_shapes) > 0 THEN
    RETURN QUERY
      SELECT 12, i / 2, f.*
      FROM generate_series(1, cardinality(a_shapes), 2) AS i CROSS JOIN LATERAL (
        SELECT r.key, o.until::text, r.public_id, o.root, o.party, o.service, o.contact, o.arn, o.name, o.identity, o.shape,
               o.since::text, o.real::integer::text, o.record, o.record_reason, o.successor, o.state, o.leaf,
               o.contested::integer::text, o.managed_once::integer::text, o.left_slots
        FROM (SELECT s.* FROM truce.owners s WHERE s.shape = a_shapes[i] AND s.shape <> '' OFFSET 0) AS o
        CROSS JOIN LATERAL (SELECT m.* FROM truce.resources m WHERE m.id = o.resource OFFSET 0) AS r
        ORDER BY r.key LIMIT a_shapes[i + 1]::bigint) AS f;
  END IF;
  IF cardinality(a_proposed) > 0 THEN
    RETURN QUERY
      SELECT 13, p.number::integer - 1, t.is_taken, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM unnest(a_proposed) WITH ORDINALITY AS p (name, number) CROSS JOIN LATERAL (
        SELECT count(*)::text AS is_taken FROM (
          SELECT m.* FROM truce.names m WHERE m.name = p.name ORDER BY m.spelling DESC) AS n
        JOIN truce.owners o ON o.resource = n.resource OFFSET 0) AS t;
  END IF;
END $$;

-- Makes the COMMIT behind it wait as one that wrote does; of a transaction that wrote nothing it waits for nothing.
CREATE FUNCTION truce.confirm() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM truce.wait_when_committing();
  PERFORM pg_logical_emit_message(true, 'truce', '');
END $$;

-- What a role or database may say otherwise: an answer rests on a commit that is durable.
CREATE FUNCTION truce.wait_when_committing() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $$;

-- Writes what one decision changes, all or nothing: drops, then puts. Each array holds its records one after the other,
-- so many texts each (registry/store/postgres/records.h); no record comes twice. What refers to a resource that is not
-- there breaks a constraint (NOT NULL). Put as observed, what has an owner stays as it is; observers that an owner leaves
-- behind keep its key. Last go the resources that are left with neither owner nor declarations. `audit_from`: the number
-- of the first audit line. Answers the number of the last one that it wrote.
CREATE FUNCTION truce.put(drop_names text[], drop_rows text[], drop_owners text[], put_observed text[],
                          put_owners text[], put_rows text[], put_names text[], drop_objects text[],
                          put_objects text[], drop_agreements text[], put_agreements text[], put_settings text[],
                          put_audit text[], audit_from bigint DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off AS $$  -- as in truce.take
#variable_conflict use_column
DECLARE
  last_line bigint;
  present bigint;  -- incarnation
BEGIN
  PERFORM truce.wait_when_committing();
  IF cardinality(drop_names) > 0 THEN
    DELETE FROM truce.names n USING generate_series(1, cardinality(drop_names), 2) AS i
    WHERE n.name = drop_names[i] AND n.spelling = drop_names[i + 1]::bigint;
  END IF;
  IF cardinality(drop_rows) > 0 THEN
    DELETE FROM truce.declarations d USING generate_series(1, cardinality(drop_rows), 3) AS i, LATERAL (
      SELECT m.* FROM truce.resources m WHERE m.public_id = drop_rows[i] OFFSET 0) AS r
    WHERE d.resource = r.id AND d.uid = drop_rows[i + 1] AND d.state = drop_rows[i + 2];
  END IF;
  IF cardinality(drop_owners) > 0 THEN
    DELETE FROM truce.owners o USING unnest(drop_owners) AS a (id), LATERAL (
      SELECT m.* FROM truce.resources m WHERE m.public_id = a.id OFFSET 0) AS r
    WHERE o.resource = r.id;
  END IF;
  IF cardinality(put_observed) > 0 THEN
    INSERT INTO truce.resources AS r (public_id, key)
    SELECT put_observed[i], put_observed[i + 1] FROM generate_series(1, cardinality(put_observed), 2) AS i
    ON CONFLICT (public_id) DO UPDATE SET key = excluded.key
      WHERE NOT EXISTS (SELECT FROM truce.owners o WHERE o.resource = r.id);
  END IF;
  IF cardinality(put_owners) > 0 THEN
    INSERT INTO truce.resources AS r (public_id, key)
    SELECT put_owners[i], put_owners[i + 1] FROM generate_series(1, cardinality(put_owners), 21) AS i
    ON CONFLICT (public_id) DO UPDATE SET key = excluded.key WHERE r.key <> excluded.key;
    INSERT INTO truce.owners AS o (resource, root, party, service, contact, arn, name, identity, shape, since, real,
      record, record_reason, successor, state, leaf, contested, managed_once, left_slots, until)
    SELECT (SELECT r.id FROM truce.resources r WHERE r.public_id = p[i]), p[i + 2], p[i + 3], p[i + 4], p[i + 5],
      p[i + 6], p[i + 7], p[i + 8], p[i + 9], p[i + 10]::bigint, p[i + 11]::boolean, p[i + 12], p[i + 13], p[i + 14],
      p[i + 15], p[i + 16], p[i + 17]::boolean, p[i + 18]::boolean, p[i + 19], p[i + 20]::bigint
    FROM (SELECT put_owners) AS a (p), generate_series(1, cardinality(p), 21) AS i
    ON CONFLICT (resource) DO UPDATE SET root = excluded.root, party = excluded.party,
      service = excluded.service, contact = excluded.contact, arn = excluded.arn, name = excluded.name,
      identity = excluded.identity, shape = excluded.shape, since = excluded.since, real = excluded.real,
      record = excluded.record, record_reason = excluded.record_reason, successor = excluded.successor,
      state = excluded.state, leaf = excluded.leaf, contested = excluded.contested,
      managed_once = excluded.managed_once, left_slots = excluded.left_slots, until = excluded.until;
  END IF;
  IF cardinality(put_rows) > 0 THEN
    INSERT INTO truce.declarations AS d (resource, uid, state, slot, namespace, root, intent, terminating, managed,
      identity, review, digest, base, "user", at, created, account_fields)
    SELECT (SELECT r.id FROM truce.resources r WHERE r.public_id = p[i]), p[i + 1], p[i + 2], p[i + 3], p[i + 4],
      p[i + 5], p[i + 6], p[i + 7]::boolean, p[i + 8]::boolean, p[i + 9], p[i + 10], p[i + 11], p[i + 12]::bigint,
      p[i + 13], p[i + 14]::bigint, p[i + 15]::bigint, p[i + 16]
    FROM (SELECT put_rows) AS a (p), generate_series(1, cardinality(p), 17) AS i
    ON CONFLICT (resource, uid, state) DO UPDATE SET slot = excluded.slot, namespace = excluded.namespace,
      root = excluded.root, intent = excluded.intent, terminating = excluded.terminating, managed = excluded.managed,
      identity = excluded.identity, review = excluded.review, digest = excluded.digest, base = excluded.base,
      "user" = excluded."user", at = excluded.at, created = excluded.created,
      account_fields = excluded.account_fields;
  END IF;
  IF cardinality(put_names) > 0 THEN
    INSERT INTO truce.names AS n (name, spelling, resource, sort, observed, at)
    SELECT p[i], p[i + 1]::bigint, (SELECT r.id FROM truce.resources r WHERE r.public_id = p[i + 2]), p[i + 3],
      p[i + 4]::boolean, p[i + 5]::bigint
    FROM (SELECT put_names) AS a (p), generate_series(1, cardinality(p), 6) AS i
    ON CONFLICT (name, spelling) DO UPDATE SET resource = excluded.resource, sort = excluded.sort,
      observed = excluded.observed, at = excluded.at;
  END IF;
  IF cardinality(drop_objects) > 0 THEN
    DELETE FROM truce.objects o USING unnest(drop_objects) AS a (uid) WHERE o.uid = a.uid;
  END IF;
  IF cardinality(put_objects) > 0 THEN
    INSERT INTO truce.objects AS o (uid, kind, namespace, name, parent, parent_uid, root, link, names, service, contact,
      composes, own_party, transfer_to, unproven_marks, stripped, at)
    SELECT p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5], p[i + 6], p[i + 7], p[i + 8], p[i + 9], p[i + 10],
      p[i + 11]::boolean, p[i + 12]::boolean, p[i + 13], p[i + 14], p[i + 15]::bigint, p[i + 16]::bigint
    FROM (SELECT put_objects) AS a (p), generate_series(1, cardinality(p), 17) AS i
    ON CONFLICT (uid) DO UPDATE SET kind = excluded.kind, namespace = excluded.namespace, name = excluded.name,
      parent = excluded.parent, parent_uid = excluded.parent_uid, root = excluded.root, link = excluded.link,
      names = excluded.names, service = excluded.service, contact = excluded.contact, composes = excluded.composes,
      own_party = excluded.own_party, transfer_to = excluded.transfer_to, unproven_marks = excluded.unproven_marks,
      stripped = excluded.stripped, at = excluded.at;
  END IF;
  IF cardinality(drop_agreements) > 0 THEN
    DELETE FROM truce.agreements g USING unnest(drop_agreements) AS a (id) WHERE g.id = a.id;
  END IF;
  IF cardinality(put_agreements) > 0 THEN
    INSERT INTO truce.agreements AS g (id, kind, resource, party, level, accepted, successor, reason, actor, at, until)
    SELECT p[i], p[i + 1], (SELECT r.id FROM truce.resources r WHERE r.public_id = p[i + 2]), p[i + 3], p[i + 4],
      p[i + 5]::boolean, p[i + 6], p[i + 7], p[i + 8], p[i + 9]::bigint, p[i + 10]::bigint
    FROM (SELECT put_agreements) AS a (p), generate_series(1, cardinality(p), 11) AS i
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, resource = excluded.resource, party = excluded.party,
      level = excluded.level, accepted = excluded.accepted, successor = excluded.successor, reason = excluded.reason,
      actor = excluded.actor, at = excluded.at, until = excluded.until;
  END IF;
  IF cardinality(drop_owners) > 0 OR cardinality(drop_rows) > 0 OR cardinality(put_observed) > 0 THEN
    DELETE FROM truce.resources r
    USING (SELECT unnest(drop_owners)
           UNION SELECT drop_rows[i] FROM generate_series(1, cardinality(drop_rows), 3) AS i
           UNION SELECT put_observed[i] FROM generate_series(1, cardinality(put_observed), 2) AS i) AS a (id),
      LATERAL (SELECT m.* FROM truce.resources m WHERE m.public_id = a.id OFFSET 0) AS f
    WHERE r.id = f.id
      AND NOT EXISTS (SELECT FROM truce.owners o WHERE o.resource = f.id)
      AND NOT EXISTS (SELECT FROM truce.declarations d WHERE d.resource = f.id);
  END IF;
  IF cardinality(put_settings) > 0 THEN
    INSERT INTO truce.settings AS s (name, value)
    SELECT put_settings[i], put_settings[i + 1] FROM generate_series(1, cardinality(put_settings), 2) AS i
    ON CONFLICT (name) DO UPDATE SET value = excluded.value;
  END IF;
  IF cardinality(put_audit) > 0 THEN
    -- A pooler connects its clients to another server, and they do not notice.
    SELECT r.incarnation INTO present FROM truce.registry r WHERE r.place = truce.place();
    IF present IS NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'TR002', MESSAGE = 'this connection leads to another server than it did';
    END IF;
    IF audit_from IS NOT NULL THEN
      PERFORM truce.number_audit_from(audit_from);
    END IF;
    WITH added AS (
      INSERT INTO truce.audit (incarnation, at, action, key, id, root, slot, uid, cause, actor, review)
      SELECT present, p[i]::bigint, p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5], p[i + 6], p[i + 7], p[i + 8], p[i + 9]
      FROM (SELECT put_audit) AS a (p), generate_series(1, cardinality(p), 10) AS i ORDER BY i
      RETURNING number)
    SELECT max(number) INTO last_line FROM added;
  END IF;
  IF 'audit.let-go' = ANY (put_settings) THEN
    PERFORM truce.let_audit_go();
  END IF;
  SET CONSTRAINTS ALL IMMEDIATE;
  RETURN last_line;
END $$;
