"""The questions of docs/sqlite.md, asked of a registry whose server runs: one statement, by an index."""

import re
import sqlite3
from pathlib import Path

from system.test_api import api  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[2]


def test_each_question_is_answered_by_an_index(api):  # noqa: F811
    database = sqlite3.connect(f"file:{api.truce.data}/truce.db?mode=ro", uri=True)
    key, root, service, arn = database.execute(
        "SELECT key, root, service, arn FROM resources WHERE name = 'prod-one'").fetchone()
    kind, namespace, name = database.execute(
        "SELECT o.kind, o.namespace, o.name FROM objects o JOIN declarations d ON d.uid = o.uid "
        "JOIN resources r ON r.id = d.resource WHERE r.key = ?", (key,)).fetchone()
    values = {
        "'orders-prod' COLLATE": "'PROD-one' COLLATE", "arn:aws:s3:::orders-prod": arn,
        "o.kind = 'local/s3.aws.upbound.io/Bucket'": f"o.kind = '{kind}'",
        "o.namespace = ''": f"o.namespace = '{namespace}'", "o.name = 'orders-prod'": f"o.name = '{name}'",
        "service = 'orders'": f"service = '{service}'",
        "p.namespace = 'orders'": f"p.namespace = '{root.split('/')[3]}'",
    }
    questions = re.findall(r"```sql\n(.*?)```", (ROOT / "docs/sqlite.md").read_text(), re.DOTALL)
    assert len(questions) == 5
    for question in questions:
        for word, value in values.items():
            question = question.replace(word, value)
        assert any(row[:2] == (key, root) for row in database.execute(question)), question
        plan = [row[3] for row in database.execute("EXPLAIN QUERY PLAN " + question)]
        assert plan and not any("SCAN" in step for step in plan), (question, plan)
