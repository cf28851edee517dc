#!/usr/bin/env python3
"""left.py LAYER MARK: a line for each thing in the layer that was made, changed or removed after the file MARK was.

Kind, mode, owner, name, digest. A file that was removed is a device in the layer. Times in settings are no part of
the digest."""
import grp
import hashlib
import os
import pwd
import re
import stat
import sys

INSTALLED = re.compile(rb"^# [(].* installed on .*\n?", re.M)
TIME = re.compile(rb"20[0-9]{2}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+( [+-][0-9]{4})?")


def name_of(number, lookup):
    try:
        return lookup(number)[0]
    except KeyError:
        return number


def digest(path, name):
    with open(path, "rb") as file:
        content = file.read()
    if not name.startswith("usr/"):
        content = TIME.sub(b"", INSTALLED.sub(b"", content))
    return hashlib.sha256(content).hexdigest()


def line(path, name):
    info = os.lstat(path)
    owner = f"{name_of(info.st_uid, pwd.getpwuid)}:{name_of(info.st_gid, grp.getgrgid)}"
    mode = f"{stat.S_IMODE(info.st_mode):o}"
    if stat.S_ISREG(info.st_mode):
        return f"file {mode} {owner} {name} {digest(path, name)}"
    if stat.S_ISLNK(info.st_mode):
        return f"link {owner} {name} {os.readlink(path)}"
    if stat.S_ISCHR(info.st_mode):
        return f"gone {name}"
    if stat.S_ISDIR(info.st_mode):
        return f"dir {mode} {owner} {name}"
    return None


layer, mark = sys.argv[1], os.stat(sys.argv[2]).st_mtime_ns
sys.stdout.reconfigure(errors="surrogateescape")
for directory, directories, files in os.walk(layer):
    for path in [directory] * (directory == layer) + [os.path.join(directory, one) for one in directories + files]:
        if os.lstat(path).st_ctime_ns > mark:
            found = line(path, "" if path == layer else os.path.relpath(path, layer))
            if found:
                print(found)
