-- The history of one resource, without passing over the whole log.

CREATE INDEX audit_by_id ON audit (id) WHERE id <> '';
