"""Nobody watches the cluster for long. A file of its own: it waits for more than a minute beside the others."""

import pytest

from support.buckets import grant, refused, review
from support.processes import wait_for


@pytest.mark.rotating(64)
def test_while_no_server_leads_for_long_what_looks_free_is_unknown(postgres, database, servers, scripted_api):
    """The lease is held by one that is gone and tells nothing: held here by hand, for longer than the test takes."""
    leader, other = (servers(scripted_api, store=postgres.url(database)) for _ in range(2))
    leader.start()
    other.start()
    grant(other, "name")
    leader.kill()
    postgres.sql(database, "UPDATE truce.lease SET expires = clock_timestamp() + interval '1 hour' WHERE sort = 'watch'")
    wait_for(lambda: other.metric("truce_view_age_seconds") > 60, 90, "the view is old")
    assert review(other, "free")[0] == 503
    assert "name" in refused(other, "name")
    assert other.metrics_get("/readyz")[0] == 200
