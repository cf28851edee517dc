#!/usr/bin/env python3
"""Processor time of the programs in speed/ with our runtime and with the machine's ruby.

Both run each program in turns, so that other work on the machine hits both alike; a row is
the median of each and CRuby's time divided by ours: above 1 we are ahead. What a program
prints must be the same. Programs over a gem need its sources below --gems (kramdown, rouge,
mustache, optcarrot, each a directory of that name); rows without are named as skipped.

Usage: compare.py [--rounds N] [--gems DIRECTORY] [--ours COMMAND] [--ruby COMMAND] [ROW...]
"""
import argparse, os, resource, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = ("fib while array hash objects nbody mandelbrot sort blocks json_generate json_parse "
        "strings glob erb yaml kramdown rouge mustache optcarrot").split()
GEMS = {"kramdown", "rouge", "mustache", "optcarrot"}


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if ended.returncode:
        last = (ended.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[0]
        return None, f"exit code {ended.returncode}: {last[:150]}"
    return seconds, ended.stdout


def measure(row, ours, ruby, gems, rounds):
    words = [os.path.join(HERE, "speed", row + ".rb")]
    if row in GEMS:
        words.append(os.path.join(gems, row))
    times = ([], [])
    for _ in range(rounds):
        said = []
        for command, list_ in ((ours, times[0]), (ruby, times[1])):
            seconds, out = run(command.split() + words)
            if seconds is None:
                return f"{row:14} failed: {command.split()[0]}: {out}"
            list_.append(seconds)
            said.append(out)
        if said[0] != said[1]:
            return f"{row:14} failed: the outputs differ"
    mine, theirs = map(statistics.median, times)
    behind = "" if theirs > mine else "  behind"
    return f"{row:14} {mine:7.3f} {theirs:7.3f} {theirs / mine:7.2f}{behind}"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--gems")
    words.add_argument("--ours", default="target/release/fixpoint ruby")
    words.add_argument("--ruby", default="ruby --disable-gems")
    words.add_argument("rows", nargs="*")
    given = words.parse_args()
    found = subprocess.run(["ruby", "-e", "puts Gem::Specification.find_by_name('rexml').gem_dir"],
                           capture_output=True, text=True).stdout.strip()
    ours, ruby = given.ours, given.ruby
    if found:  # kramdown needs it, and the gems are off
        ours, ruby = (f"{command} -I{found}/lib" for command in (ours, ruby))
    print(f"{'program':14} {'ours':>7} {'ruby':>7} {'ratio':>7}")
    skipped = []
    for row in given.rows or ROWS:
        if row in GEMS and not os.path.isdir(os.path.join(given.gems or "", row)):
            skipped.append(row)
            continue
        print(measure(row, ours, ruby, given.gems, given.rounds), flush=True)
    if skipped:
        print("skipped, no sources given:", *skipped)


if __name__ == "__main__":
    sys.exit(main())
