#!/usr/bin/env python3
"""dependencies.py MODULEPATH MODULE ...: the directories of these modules and of all that they depend on, one a line."""
import json
import pathlib
import sys

path = [pathlib.Path(part) for part in sys.argv[1].split(":")]
wanted, seen = sys.argv[2:], set()
while wanted:
    name = wanted.pop()
    found = next((part / name for part in path if (part / name).is_dir()), None)
    if name in seen or found is None:
        continue
    seen.add(name)
    print(found)
    try:
        about = json.loads((found / "metadata.json").read_text())
    except (OSError, ValueError):
        continue
    wanted += [one["name"].replace("/", "-").split("-", 1)[1] for one in about.get("dependencies", [])]
