#!/usr/bin/env python3
"""Run public cookbooks' own ChefSpec suites and compare example by example with the real ChefSpec.

  suites.py lay-out --cookbooks DIR --out BOOKS [--only NAME …]
  suites.py record  --books BOOKS --results DIR --spec "COMMAND {args} {files}" [--only NAME …]
  suites.py compare --books BOOKS --results DIR --test "F test {args} {files}" [--only NAME …] [--verbose]

`lay-out` takes cookbooks by name (repositories.tsv pins each; `git archive COMMIT:PATH` lays one out)
and makes BOOKS/NAME/cookbooks with a copy of the cookbook, of all it depends on as far as DIR has it, and
of the cookbooks that its Berksfile or Policyfile names by a path, as those tools would do it.

`record` runs the real ChefSpec once in each cookbook (ruby with rspec; chefspec/berkshelf and
chefspec/policyfile stand for files that do nothing, since the cookbooks lie there already) and keeps what
became of each example and the processor time. `compare` runs another command in the same way. In the
template {files} are the spec files, {args} is `--order defined --format json --out FILE`.

An example agrees when its status is the recorded one; examples are matched by file, line and description,
then in order among those left on the same line. A file that could not be loaded agrees when it could not be
loaded either. The last line: `chefspec: N agree, M differ, K cookbooks`.

Specs are other people's programs: run this inside a throw-away copy of the machine.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LOADING = re.compile(r"An error occurred while loading (\S+?)\.?(?:\n| - Did you mean)")


def names(args, folder):
    wanted = args.only or [line.split("\t")[0] for line in (HERE / "repositories.tsv").read_text().splitlines()[1:]]
    return [name for name in wanted if (folder / name).is_dir()]


def depends(book):
    """What a cookbook's metadata says it depends on."""
    file = book / "metadata.rb"
    if file.is_file():
        return re.findall(r"^\s*depends\s*\(?\s*['\"]([^'\"]+)", file.read_text(errors="replace"), re.M)
    file = book / "metadata.json"
    return list(json.loads(file.read_text()).get("dependencies", {})) if file.is_file() else []


def own_paths(book):
    """Cookbooks that lie inside it, by the files that say where cookbooks come from."""
    found = []
    for name in ("Berksfile", "Policyfile.rb"):
        if (book / name).is_file():
            text = (book / name).read_text(errors="replace")
            found += re.findall(r"^\s*cookbook\s*\(?\s*['\"]([^'\"]+)['\"].*path:\s*['\"]([^'\"]+)", text, re.M)
    return [(name, book / path) for name, path in found if path.strip("./") and (book / path).is_dir()]


def lay_out(args):
    source, out = pathlib.Path(args.cookbooks), pathlib.Path(args.out)
    for name in names(args, source):
        home = out / name / "cookbooks"
        shutil.rmtree(out / name, ignore_errors=True)
        todo, absent = [(name, source / name)], []
        todo += own_paths(source / name)
        while todo:
            one, place = todo.pop()
            if (home / one).exists():
                continue
            if not place.is_dir():
                absent.append(one)
                continue
            shutil.copytree(place, home / one, symlinks=True)
            todo += [(other, source / other) for other in depends(place)]
        print(name, "without " + " ".join(absent) if absent else "")


def run(template, book, timeout):
    """Each example's place, name and status, the files that could not be loaded, and processor time."""
    files = sorted(str(path.relative_to(book)) for path in (book / "spec").rglob("*_spec.rb"))
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        fill = {"{args}": f"--order defined --format json --out {report}", "{files}": " ".join(files)}
        for key, value in fill.items():
            template = template.replace(key, value)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        child = subprocess.Popen(shlex.split(template), cwd=book, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            err = child.communicate(timeout=timeout)[1]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            err = child.communicate()[1]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if not report.is_file() or not report.read_text().strip():
            return {"cpu": cpu, "broken": err.decode(errors="replace")[-2000:], "examples": [], "unloaded": []}
        data = json.loads(report.read_text())
    examples = [{"file": one["file_path"].removeprefix(str(book) + "/").removeprefix("./"), "line": one["line_number"],
                 "name": one["full_description"].replace(str(book), "."), "status": one["status"],
                 "why": one.get("exception", {}).get("message", "").strip()[:600]}
                for one in data["examples"]]
    unloaded = sorted({name.removeprefix("./") for text in data.get("messages", []) for name in LOADING.findall(text)})
    return {"cpu": cpu, "examples": examples, "unloaded": unloaded}


def record(args):
    books, results = pathlib.Path(args.books).resolve(), pathlib.Path(args.results)
    results.mkdir(parents=True, exist_ok=True)
    for name in names(args, books):
        if (results / f"{name}.json").exists() and not args.only:
            continue
        found = run(args.spec, books / name / "cookbooks" / name, args.timeout)
        (results / f"{name}.json").write_text(json.dumps(found, indent=1))
        count = collections.Counter(one["status"] for one in found["examples"])
        print(name, dict(count), "unloaded", len(found["unloaded"]), f"{found['cpu']:.1f} s",
              found.get("broken", "")[-200:], flush=True)


def pairs(old, new):
    """Recorded examples beside those that are the same; None where there is none."""
    rest, out, late = collections.defaultdict(list), [], []
    for one in new:
        rest[one["file"], one["line"], one["name"]].append(one)
    for one in old:
        found = rest[one["file"], one["line"], one["name"]]
        if found:
            out.append((one, found.pop(0)))
        else:
            late.append(one)
    by_line = collections.defaultdict(list)
    for list_ in rest.values():
        for one in list_:
            by_line[one["file"], one["line"]].append(one)
    for one in late:
        found = by_line[one["file"], one["line"]]
        out.append((one, found.pop(0) if found else None))
    return out + [(None, one) for list_ in by_line.values() for one in list_]


def compare(args):
    books, results = pathlib.Path(args.books).resolve(), pathlib.Path(args.results)
    total = collections.Counter()
    cpu = [0.0, 0.0]
    for name in names(args, books):
        kept = results / f"{name}.json"
        if not kept.exists():
            continue
        old = json.loads(kept.read_text())
        if "broken" in old:
            print(name, "was not recorded")
            continue
        new = run(args.test, books / name / "cookbooks" / name, args.timeout)
        agree, differ = 0, 0
        for was, now in pairs(old["examples"], new["examples"]):
            if was and now and was["status"] == now["status"]:
                agree += 1
                total["passed"] += was["status"] == "passed"
                continue
            differ += 1
            if args.verbose:
                one = was or now
                print(f"  {one['file']}:{one['line']} {one['name']}: {was and was['status']}, ours {now and now['status']}")
                print("    " + (now or was)["why"].replace("\n", "\n    "))
        for file in sorted(set(old["unloaded"]) ^ set(new["unloaded"])):
            differ += 1
            print(f"  {file} {'was' if file in old['unloaded'] else 'can now'} not loaded")
        agree += len(set(old["unloaded"]) & set(new["unloaded"]))
        cpu = [cpu[0] + old["cpu"], cpu[1] + new["cpu"]]
        total.update(agree=agree, differ=differ, books=1)
        print(f"{name}: {agree} agree, {differ} differ; {old['cpu']:.1f} s, ours {new['cpu']:.2f} s", flush=True)
        if "broken" in new:
            print("  " + new["broken"].replace("\n", "\n  "))
    print(f"processor time: {cpu[0]:.1f} s with ChefSpec, {cpu[1]:.1f} s ours, {cpu[0] / max(cpu[1], 0.01):.0f} times less")
    print(f"{total['passed']} of those that agree pass")
    print(f"chefspec: {total['agree']} agree, {total['differ']} differ, {total['books']} cookbooks")
    return 1 if total["differ"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["lay-out", "record", "compare"])
    for flag in ("cookbooks", "out", "books", "results", "spec", "test"):
        parser.add_argument(f"--{flag}")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--timeout", type=float, default=1800)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    return {"lay-out": lay_out, "record": record, "compare": compare}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
