-- Who observes what, without passing over all declarations; those that manage stand in no page of it.

CREATE INDEX declarations_observing ON declarations (resource) WHERE intent = 'observes';
