-- Retention of the audit log (I12): the setting audit.exported names the last line that stands in an exported
-- segment. Writing it lets those lines go, in the same transaction; no other deletion is possible.

DROP TRIGGER audit_is_not_deleted;

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
