-- The roles of a registry in PostgreSQL: one that the tables belong to, one login that makes and upgrades them
-- (`truce prepare-store`), one login of the server, which cannot change them nor its audit log, one for people who read.
-- As an administrator, once, in the database that Truce gets:
--
--   truce prepare-store --roles | psql "host=HOST user=ADMINISTRATOR dbname=NAME"
--
-- then give the logins their passwords, by \password truce_migrate and \password truce_app.

DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['truce_owner NOLOGIN', 'truce_migrate LOGIN', 'truce_app LOGIN', 'truce_read NOLOGIN'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = split_part(role, ' ', 1)) THEN
      EXECUTE 'CREATE ROLE ' || role;
    END IF;
  END LOOP;
  GRANT truce_owner TO truce_migrate;
  EXECUTE format('GRANT CREATE ON DATABASE %I TO truce_owner', current_database());
END $$;
