#!/usr/bin/env python3
"""Load on CFEngine's server and agent: the real tools and ours, in one run.

    load.py FIXPOINT [copy|latency|parallel|idle|killed ...]

copy      10,000 small files, first and again: processor time of both sides together
latency   1,000 files with 10 ms on the way there and back: wall time
parallel  30 agents at once
idle      1,000 idle connections: memory of our server, and the next one is answered
killed    our server killed in the middle of 50 copies: no file is torn, the next run has all

Run it as root in a throw-away copy with a network of its own. Without the real tools only ours are
measured, and it says so. The last line counts the figures that were met.
"""
import asyncio
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TOOLS = ["cf-agent", "cf-serverd", "cf-key", "cf-promises"]
PORT = 15308
met = missed = 0


def figure(text, good):
    global met, missed
    met, missed = met + good, missed + (not good)
    print(("met     " if good else "MISSED  ") + text, flush=True)


def work_directory(path, tools):
    for part in ["bin", "inputs", "state", "ppkeys", "outputs", "masterfiles", "modules"]:
        (path / part).mkdir(parents=True)
    for private in [path, path / "ppkeys"]:
        private.chmod(0o700)
    for tool in TOOLS:
        (path / "bin" / tool).symlink_to(tools / tool)
    run(path, "cf-key")


def run(path, tool, *args, **more):
    env = dict(os.environ, CFENGINE_TEST_OVERRIDE_WORKDIR=str(path))
    return subprocess.run([path / "bin" / tool, *args], env=env, capture_output=True, text=True, **more)


def policy(path, text):
    file = path / "inputs/promises.cf"
    file.write_text(text)
    file.chmod(0o600)


class Site:
    """A server and its clients, with the tools of one side."""

    def __init__(self, base, name, tools, data):
        self.tools, self.dir, self.data = tools, base / name, data
        self.server = self.dir / "S"
        work_directory(self.server, tools)
        policy(self.server, f"""
body common control {{ bundlesequence => {{ "main" }}; }}
body server control {{ port => "{PORT}"; allowconnects => {{ "127.0.0.1" }}; allowallconnects => {{ "127.0.0.1" }};
  trustkeysfrom => {{ "127.0.0.1" }}; maxconnections => "2000"; }}
bundle agent main {{ }}
bundle server s {{ access: "{data}" shortcut => "dat", admit_ips => {{ "127.0.0.1" }}; }}
""")
        self.process = None

    def client(self, name, port=PORT):
        path = self.dir / name
        work_directory(path, self.tools)
        policy(path, f"""
body common control {{ bundlesequence => {{ "main" }}; }}
bundle agent main {{ files: "{self.dir}/dst-{name}" copy_from => net, depth_search => all; }}
body copy_from net {{ source => "dat"; servers => {{ "127.0.0.1" }}; portnumber => "{port}"; compare => "digest";
  trustkey => "true"; timeout => "20"; }}
body depth_search all {{ depth => "inf"; }}
""")
        return path

    def copied(self, name):
        return subprocess.run(["diff", "-r", self.data, f"{self.dir}/dst-{name}"], capture_output=True).returncode == 0

    def serve(self):
        env = dict(os.environ, CFENGINE_TEST_OVERRIDE_WORKDIR=str(self.server))
        self.process = subprocess.Popen([self.server / "bin/cf-serverd", "-F", "-K"], env=env,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", PORT), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the server does not listen")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) / 1024


def agent(path):
    """Processor and wall time of a run."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run(path, "cf-agent", "-K", timeout=580)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began


def files(base, count):
    data = base / f"data{count}"
    for number in range(count):
        file = data / f"d{number // 100:03}" / f"f{number:05}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"file {number}\n" * 8)
    return data


def part_copy(base, sides):
    data, used = files(base, 10_000), {}
    for name, tools in sides:
        site = Site(base, f"copy-{name}", tools, data)
        site.serve()
        client = site.client("C")
        for turn in ["first", "again"]:
            before = site.cpu()
            cpu, wall = agent(client)
            used[name, turn] = cpu + site.cpu() - before
            print(f"        10,000 files {turn}, {name}: agent {cpu:.2f} s, server {site.cpu() - before:.2f} s, wall {wall:.1f} s")
        figure(f"10,000 files copied, {name}: equal", site.copied("C"))
        site.stop()
    for turn in ["first", "again"]:
        if ("real", turn) in used:
            times = used["real", turn] / used["ours", turn]
            figure(f"10,000 files {turn}: {times:.1f} times less processor time (wanted 5)", times >= 5)


async def forward(reader, writer, delay):
    """Hands bytes on after a delay, without holding up those behind them."""
    queue = asyncio.Queue()
    loop = asyncio.get_running_loop()

    async def send():
        while True:
            at, data = await queue.get()
            await asyncio.sleep(max(0, at - loop.time()))
            writer.write(data)
            await writer.drain()
            if not data:
                writer.close()
                return

    sender = asyncio.create_task(send())
    try:
        while data := await reader.read(1 << 16):
            queue.put_nowait((loop.time() + delay, data))
    except ConnectionError:
        pass
    queue.put_nowait((loop.time() + delay, b""))
    try:
        await sender
    except (ConnectionError, RuntimeError):
        pass


def slow_way(port, delay):
    """A way to the server that takes time in each direction."""
    async def handle(reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", PORT)
        await asyncio.gather(forward(reader, back, delay), forward(there, writer, delay))

    async def main():
        server = await asyncio.start_server(handle, "127.0.0.1", port)
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(main()), daemon=True).start()


def part_latency(base, sides):
    data, walls = files(base, 1000), {}
    slow_way(PORT + 1, 0.005)
    time.sleep(0.5)
    for name, tools in sides:
        site = Site(base, f"latency-{name}", tools, data)
        site.serve()
        client = site.client("C", PORT + 1)
        for turn in ["first", "again"]:
            _, walls[name, turn] = agent(client)
            print(f"        1,000 files {turn} over 10 ms, {name}: {walls[name, turn]:.2f} s")
        figure(f"1,000 files over 10 ms, {name}: equal", site.copied("C"))
        site.stop()
    for turn in ["first", "again"]:
        if ("real", turn) in walls:
            times = walls["real", turn] / walls["ours", turn]
            figure(f"1,000 files {turn} over 10 ms: {times:.1f} times less wall time (wanted 20)", times >= 20)


def part_parallel(base, sides):
    data = files(base, 300)
    for name, tools in sides:
        site = Site(base, f"parallel-{name}", tools, data)
        site.serve()
        clients = [site.client(f"C{number}") for number in range(30)]
        began = time.monotonic()
        threads = [threading.Thread(target=agent, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        good = sum(site.copied(f"C{number}") for number in range(30))
        print(f"        30 agents at once, {name}: {time.monotonic() - began:.1f} s, {good} of 30 have all files")
        if name == "ours":
            figure(f"30 agents at once: {good} of 30 have all files", good == 30)
        site.stop()


def part_idle(base, sides):
    data = files(base, 100)
    site = Site(base, "idle", dict(sides)["ours"], data)
    site.serve()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    idle = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(1000)]
    agent(site.client("C"))
    memory = site.memory()
    figure(f"1,000 idle connections: the next is answered, {memory:.0f} MB (wanted below 100)", site.copied("C") and memory < 100)
    del idle
    site.stop()


def part_killed(base, sides):
    data = base / "large"
    data.mkdir()
    content = os.urandom(1_000_000)
    for number in range(20):
        (data / f"f{number}").write_bytes(content)
    site = Site(base, "killed", dict(sides)["ours"], data)
    site.serve()
    clients = [site.client(f"C{number}") for number in range(50)]
    threads = [threading.Thread(target=agent, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    while sum(1 for _ in site.dir.glob("dst-C*/f*")) < 100:
        time.sleep(0.05)
    site.stop(signal.SIGKILL)
    for thread in threads:
        thread.join()
    there = [file for file in site.dir.glob("dst-C*/*")]
    torn = [file for file in there if file.read_bytes() != content]
    figure(f"server killed in 50 copies: {len(there)} of 1,000 files were there, {len(torn)} torn", not torn and len(there) < 1000)
    site.serve()
    threads = [threading.Thread(target=agent, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    good = sum(site.copied(f"C{number}") for number in range(50))
    figure(f"server back: {good} of 50 have all files after the next run", good == 50)
    site.stop()


def main():
    fixpoint = pathlib.Path(sys.argv[1]).resolve()
    base = pathlib.Path(tempfile.mkdtemp())
    ours = base / "ours"
    ours.mkdir()
    for tool in TOOLS:
        (ours / tool).symlink_to(fixpoint)
    sides = [("ours", ours)]
    real = shutil.which("cf-serverd")
    if real and pathlib.Path(real).resolve() != fixpoint:
        sides.insert(0, ("real", pathlib.Path(real).parent))
    else:
        print("SKIPPED: the real tools are not on this machine; only ours are measured")
    parts = sys.argv[2:] or ["copy", "latency", "parallel", "idle", "killed"]
    for part in parts:
        globals()[f"part_{part}"](base, sides)
    shutil.rmtree(base)
    print(f"{met} met, {missed} missed")
    return 1 if missed else 0


sys.exit(main())
