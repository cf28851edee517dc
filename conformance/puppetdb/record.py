#!/usr/bin/env python3
"""Feeds commands.json to a PuppetDB and writes what it answers to queries.txt.

  record.py URL [--feed] > expected.json

With --feed the commands are sent first. URL is that of a PuppetDB without TLS on loopback, with an empty store.
"""
import json, sys, time, urllib.error, urllib.parse, urllib.request
from pathlib import Path

here = Path(__file__).parent
base = sys.argv[1]


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, headers={"Accept": "application/json", "Content-Type": "application/json"})

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        reply = urllib.request.build_opener(Stay).open(request)
    except urllib.error.HTTPError as error:
        reply = error
    return reply.status, reply.headers, reply.read().decode()


if "--feed" in sys.argv:
    for one in json.loads((here / "commands.json").read_text()):
        query = urllib.parse.urlencode({
            "command": one["command"].replace(" ", "_"), "version": one["version"], "certname": one["certname"],
            "producer-timestamp": one["payload"]["producer_timestamp"], "secondsToWaitForCompletion": 60,
        })
        status, _, body = call("/pdb/cmd/v1?" + query, one["payload"])
        if status != 200 or not json.loads(body)["processed"]:
            sys.exit(f"{one['command']} of {one['certname']}: {status} {body}")

recorded = []
for line in (here / "queries.txt").read_text().split("\n"):
    if not line or line.startswith("#"):
        continue
    path, query, more = (line.split("\t") + ["", ""])[:3]
    pairs = [("query", query)] if query.strip() else []
    pairs += [tuple(pair.split("=", 1)) for pair in more.split("&") if pair]
    url = "/pdb/query/v4" + ("" if path == "/" else "/" + path)
    status, headers, body = call(url + ("?" + urllib.parse.urlencode(pairs) if pairs else ""))
    row = {"request": line, "status": status}
    try:
        row["json"] = json.loads(body)
    except ValueError:
        row["text"] = body
    if headers.get("X-Records"):
        row["total"] = int(headers["X-Records"])
    recorded.append(row)
print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in recorded) + "\n]")
