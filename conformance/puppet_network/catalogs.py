#!/usr/bin/env python3
"""Catalogs of recorded cases through `fixpoint serve`, as an agent asks for them, beside those of `fixpoint compile`.

    catalogs.py FIXPOINT CASES MODULES [PART OF A NAME ...]

CASES has a directory for each case with manifest.pp, facts.json and meta.json (certname), and what else belongs to its
environment; MODULES is a module path. Each case becomes an environment of one server. Equal means: every member of the
catalog but those that name one compilation (version, catalog_uuid), or the same error. Modules run their own code while
they are compiled: start this in a throw-away copy of the machine. Ends with 1 where one differs, with 2 where nothing ran.
"""
import http.client, json, os, pathlib, shutil, ssl, subprocess, sys, tempfile, time, urllib.parse

fixpoint, cases, modules = (os.path.realpath(name) for name in sys.argv[1:4])
wanted = sys.argv[4:]
top = pathlib.Path(tempfile.mkdtemp())
environments = top / "code/environments"


def settings(kind):
    own = top / kind
    pairs = {"confdir": own, "vardir": own / "var", "ssldir": own / "ssl", "codedir": top / "code"}
    return {name: str(path) for name, path in pairs.items()}


def enroll(name, port):
    flags = ["--%s=%s" % pair for pair in settings("agent").items()]
    flags += ["--certname=" + name, "--server=localhost", "--serverport=%d" % port, "--ca_port=%d" % port, "--key_type=ec"]
    done = subprocess.run([fixpoint, "puppet", "ssl", "bootstrap", *flags], capture_output=True, text=True)
    if done.returncode:
        sys.exit("no certificate for %s: %s" % (name, done.stdout + done.stderr))
    own = top / "agent/ssl"
    context = ssl.create_default_context(cafile=own / "certs/ca.pem")
    context.load_cert_chain(own / ("certs/%s.pem" % name), own / ("private_keys/%s.pem" % name))
    return context


def served(context, port, node, environment, facts):
    facts = json.dumps({"name": node, "values": facts, "timestamp": "2026-01-01T00:00:00.000000000+00:00",
                        "expiration": "2036-01-01T00:00:00.000000000+00:00"})
    form = urllib.parse.urlencode({"environment": environment, "facts_format": "application/json",
                                   "facts": urllib.parse.quote(facts), "static_catalog": "false"})
    connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=150)
    connection.request("POST", "/puppet/v3/catalog/%s?environment=%s" % (node, environment), form,
                       {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/vnd.puppet.rich+json"})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    if answer.status == 200:
        return body, None
    return None, body.get("message", str(body))


def compiled(node, environment, facts):
    out = top / "out.json"
    out.unlink(missing_ok=True)
    where = environments / environment
    command = [fixpoint, "compile", "--node", node, "--facts", str(facts), "--modulepath", modules, "--environment-dir", str(where),
               "--environment", environment, "-o", str(out), str(where / "manifest.pp")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    if done.returncode == 0:
        return json.loads(out.read_text()), None
    lines = done.stderr.splitlines()
    at = [number for number, line in enumerate(lines) if line.startswith("Error: ")]
    return None, "\n".join(lines[at[-1]:])[len("Error: "):] if at else done.stderr


def plain(catalog):
    return {name: value for name, value in catalog.items() if name not in ("version", "catalog_uuid")}


def difference(one, other, at=""):
    """Where two values differ first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(set(one) | set(other)):
            if one.get(name) != other.get(name):
                return difference(one.get(name), other.get(name), "%s.%s" % (at, name))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other)):
            if pair[0] != pair[1]:
                return difference(*pair, "%s[%d]" % (at, number))
    return "%s: served %.200s, compiled %.200s" % (at, json.dumps(one), json.dumps(other))


found = sorted(path.parent for path in pathlib.Path(cases).rglob("manifest.pp") if (path.parent / "facts.json").exists())
found = [case for case in found if not wanted or any(part in case.name for part in wanted)]
for number, case in enumerate(found):
    where = environments / ("case%d" % number)
    shutil.copytree(case, where)
    (where / "environment.conf").write_text("manifest = manifest.pp\nmodulepath = site-modules:modules:%s\n" % modules)
server = [fixpoint, "serve", "--listen", "127.0.0.1:0"]
for pair in settings("server").items():
    server += ["--set", "%s=%s" % pair]
# As compile has it: the name of the server, and nobody to ask what nodes export (exported.sh looks at that).
for pair in ("certname=puppet.example.com", "dns_alt_names=localhost", "storeconfigs=false", "autosign=true", "environment_timeout=unlimited"):
    server += ["--set", pair]
log = open(top / "log", "w")
server = subprocess.Popen(server, stdout=subprocess.PIPE, stderr=log, text=True)
equal, failed = 0, []
try:
    port = int(server.stdout.readline().strip().rsplit(":", 1)[1])
    contexts = {}
    began = time.time()
    for number, case in enumerate(found):
        environment = "case%d" % number
        meta = json.loads((case / "meta.json").read_text()) if (case / "meta.json").exists() else {}
        node = meta.get("certname", "node1.example.com")
        if node not in contexts:
            contexts[node] = enroll(node, port)
        facts = json.loads((case / "facts.json").read_text())
        facts = facts.get("values", facts)
        catalog, error = served(contexts[node], port, node, environment, facts)
        other, other_error = compiled(node, environment, case / "facts.json")
        if catalog is not None and other is not None:
            why = None if plain(catalog) == plain(other) else difference(plain(catalog), plain(other))
        elif error is not None and other_error is not None:
            same = other_error.strip().splitlines()[0] in error if other_error.strip() else False
            why = None if same else "served: %.300s; compiled: %.300s" % (error, other_error)
        else:
            why = "served: %s; compiled: %s" % (error or "a catalog", other_error or "a catalog")
        if why is None:
            equal += 1
        else:
            failed.append(case.name)
            print("differs: %s %s" % (case.name, why))
    print("%d of %d catalogs of the server are those of compile, %.0f s" % (equal, len(found), time.time() - began))
finally:
    server.terminate()
    server.wait()
    shutil.rmtree(top)
sys.exit(2 if not found else 1 if failed else 0)
