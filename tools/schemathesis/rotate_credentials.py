"""Sends the requests to each operation with one credential after the other, and counts the answers.

What no schema can say of a request is put right before it is sent, and Schemathesis looks again whether it is valid.

TOCSIN_CREDENTIALS names a JSON file: for each operation id a list of turns, each with the name of a credential and the headers
that it is sent by.
At the end TOCSIN_ANSWERS holds, as JSON, how many answers of each status each operation gave to each credential.
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
    """Leaves one way of paging in a query that has both, by turns.

    With `page` or `per_page` nobody reads `limit` and `offset`, so a wrong one is no fault.
    """
    query = case.query or {}
    ways = (("limit", "offset"), ("page", "per_page"))
    if all(any(name in query for name in way) for way in ways):
        for name in ways[turn % 2]:
            query.pop(name, None)


def make_text(case):
    """Makes a body that is sent as Markdown the text that it is sent as: `{}` is one. Schemathesis does so for plain text alone."""
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
