"""Rotates the credentials of the requests to each operation and counts the responses.

Before sending, it corrects requests that break rules a schema cannot express. Schemathesis then validates them again.

TOCSIN_CREDENTIALS names a JSON file: for each operation ID a list of turns, each with the name of a credential and its
request headers.
At exit it writes the number of responses per operation, credential and status as JSON to the file TOCSIN_ANSWERS.
"""

import atexit
import json
import os
import threading
from collections import Counter, defaultdict

import schemathesis

with open(os.environ["TOCSIN_CREDENTIALS"], encoding="utf-8") as file:
    turns_of = json.load(file)

lock = threading.Lock()
turns_taken = Counter()
credential_of_case = {}
answers = defaultdict(lambda: defaultdict(Counter))


@schemathesis.hook
def before_call(context, case, kwargs):
    with lock:
        turns = turns_of[case.operation.definition.raw["operationId"]]
        turn = turns[turns_taken[case.operation.label] % len(turns)]
        turns_taken[case.operation.label] += 1
        credential_of_case[case.id] = turn["name"]
        keep_one_paging(case, turns_taken[case.operation.label])
        make_text(case)
    case.headers.update(turn["headers"])


def keep_one_paging(case, turn):
    """Removes one of the two paging styles from a query that has both, in alternation.

    With `page` or `per_page` the server ignores `limit` and `offset`, so invalid values are not an error.
    """
    query = case.query or {}
    ways = (("limit", "offset"), ("page", "per_page"))
    if all(any(name in query for name in way) for way in ways):
        for name in ways[turn % 2]:
            query.pop(name, None)


def make_text(case):
    """Serializes a Markdown body as text, for example `{}`. Schemathesis does this only for plain text."""
    if case.media_type == "text/markdown" and isinstance(case.body, (dict, list, bool, int, float, type(None))):
        case.body = json.dumps(case.body, default=str)


@schemathesis.hook
def after_call(context, case, response):
    with lock:
        answers[case.operation.label][credential_of_case.pop(case.id)][str(response.status_code)] += 1


@atexit.register
def write_answers():
    with open(os.environ["TOCSIN_ANSWERS"], "w", encoding="utf-8") as file:
        json.dump(answers, file)
