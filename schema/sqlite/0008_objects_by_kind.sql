-- Where the objects of a slot stand is known in memory (registry/store/sqlite/signposts.h): a new object changes no
-- page at a random place any more. Passes over a kind go by the order in which its objects came.

DROP INDEX objects_by_slot;
CREATE INDEX objects_by_kind ON objects (kind);
