"""A registry in PostgreSQL of many ownerships, made by statements."""


def fill(postgres, database, count: int, analyze: bool = True) -> None:
    """Beside the bucket `name`, which a server granted, as many like it: n1, n2, …"""
    def columns(table: str, others: str) -> str:
        return postgres.sql(database, f"""
            SELECT string_agg(quote_ident(column_name), ',') FROM information_schema.columns
            WHERE table_schema = 'truce' AND table_name = '{table}'
              AND column_name <> ALL (string_to_array('{others}', ' '))""")
    of_owners = columns("owners", "resource identity name root")
    of_rows = columns("declarations", "resource uid identity slot promised")
    of_objects = columns("objects", "uid name")
    numbers = f"generate_series(1, {count}) AS i"
    postgres.sql(database, f"""
        BEGIN; SET CONSTRAINTS ALL DEFERRED;
        INSERT INTO truce.resources OVERRIDING SYSTEM VALUE
        SELECT 1000000 + i, lpad(i::text, 13, 'a'), 's3/Bucket|aws|||name=n' || i FROM {numbers};
        INSERT INTO truce.names SELECT 's3/Bucket|aws|||name=n' || i, 0, 1000000 + i, 'declared', false, 0 FROM {numbers};
        INSERT INTO truce.owners (resource, identity, name, root, {of_owners})
        SELECT 1000000 + i, 's3/Bucket|aws||eu-central-1|name=n' || i, 'n' || i,
               replace(root, '/name', '/n' || i), {of_owners} FROM truce.owners, {numbers} WHERE name = 'name';
        INSERT INTO truce.declarations (resource, uid, identity, slot, {of_rows})
        SELECT 1000000 + i, 'uid-' || i, 's3/Bucket|aws||eu-central-1|name=n' || i, replace(slot, '/name', '/n' || i),
               {of_rows} FROM truce.declarations, {numbers} WHERE slot LIKE '%/name';
        INSERT INTO truce.objects (uid, name, {of_objects})
        SELECT 'uid-' || i, 'n' || i, {of_objects} FROM truce.objects, {numbers} WHERE name = 'name';
        COMMIT""")
    if analyze:
        postgres.sql(database, "ANALYZE")
