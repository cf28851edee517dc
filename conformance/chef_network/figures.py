"""figures.py NAME PID URL [USER KEY]: processor time of a Chef server for each request.

Asks over one kept connection for a small node and saves one of some 112 kB. A signature counts for a quarter of an
hour, so each request is signed once; servers that take any signature get none."""
import base64, hashlib, http.client, json, subprocess, sys, time, urllib.parse

# Requests between two looks at the clock of a process, which counts in hundredths of a second; so many seconds of it
# are used up at least.
SMALL, LARGE, ENOUGH = 400, 100, 0.5


def processor(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def hashed(data):
    return base64.b64encode(hashlib.sha1(data).digest()).decode()


def signed(method, path, body, who):
    headers = {"Accept": "application/json", "Content-Type": "application/json", "X-Chef-Version": "18.11.21"}
    if not who:
        return headers
    name, key = who
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = (f"Method:{method}\nHashed Path:{hashed(path.encode())}\nX-Ops-Content-Hash:{hashed(body)}\n"
            f"X-Ops-Timestamp:{now}\nX-Ops-UserId:{hashed(name.encode())}")
    # The text itself is signed, which the newer command takes for a digest that is too long.
    made = subprocess.run(["openssl", "rsautl", "-sign", "-inkey", key], input=text.encode(), capture_output=True,
                          check=True).stdout
    made = base64.b64encode(made).decode()
    headers.update({"X-Ops-Sign": "algorithm=sha1;version=1.1;", "X-Ops-Userid": name, "X-Ops-Timestamp": now,
                    "X-Ops-Content-Hash": hashed(body), "X-Ops-Server-API-Version": "1"})
    for at in range(0, len(made), 60):
        headers[f"X-Ops-Authorization-{at // 60 + 1}"] = made[at:at + 60]
    return headers


def main():
    label, pid, url = sys.argv[1:4]
    who = sys.argv[4:6]
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)

    def ask(method, path, body, headers, expected):
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status in expected, (method, path, answer.status)

    def each(what, count, method, path, body):
        headers = signed(method, path, body, who)
        ask(method, path, body, headers, (200,))
        before, used, asked = processor(pid), 0, 0
        while used < ENOUGH:
            for _ in range(count):
                ask(method, path, body, headers, (200,))
            asked += count
            used = processor(pid) - before
        print(f"{label}: {what}: {used * 1000 / asked:.3f} ms of processor time, {asked} requests")

    facts = {f"fact{at}": {"value": f"some text of fact {at} of a machine", "n": at} for at in range(1700)}
    nodes = parts.path + "/nodes"
    for name, automatic in (("small", {"platform": "debian"}), ("large", {"facts": facts})):
        node = {"name": name, "chef_type": "node", "json_class": "Chef::Node", "chef_environment": "_default",
                "run_list": [], "normal": {}, "default": {}, "override": {}, "automatic": automatic}
        body = json.dumps(node).encode()
        ask("POST", nodes, body, signed("POST", nodes, body, who), (201, 409))
        path = f"{nodes}/{name}"
        if name == "small":
            each("GET of a small node", SMALL, "GET", path, b"")
        else:
            each(f"PUT of a node of {len(body) // 1000} kB", LARGE, "PUT", path, body)


if __name__ == "__main__": main()
