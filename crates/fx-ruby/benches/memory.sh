#!/bin/sh
# Peak memory of programs that make much garbage, with our runtime and with the machine's ruby.
# Fails where ours takes more than 64 MB and more than twice what the machine's takes.
# Usage: memory.sh "target/release/fixpoint ruby" [ruby]
ours=${1:-target/release/fixpoint ruby}
theirs=${2:-ruby --disable-gems}
dir=$(mktemp -d)
cat > "$dir/strings.rb" <<'R'
i = 0
while i < 10**7
  s = "string #{i}"
  i += 1
end
R
cat > "$dir/times.rb" <<'R'
(10**7).times { |i| s = "string #{i}" }
R
cat > "$dir/objects.rb" <<'R'
c = Class.new { def initialize(i) = @i = i }
(10**7).times { |i| c.new(i) }
R
cat > "$dir/hashes.rb" <<'R'
(3 * 10**6).times { |i| { a: i, "b" => i } }
R
cat > "$dir/lines.rb" <<'R'
n = 0
File.open(File.join(__dir__, "log")) { |f| f.each_line { |l| n += l.split(" ").size } }
abort "wrong: #{n}" unless n == 2_000_000
R
cat > "$dir/scan.rb" <<'R'
s = "word1 word22 " * 154_000
n = 0
s.scan(/\w+/) { |w| n += w.size }
n += s.scan(/(\w)\d/).size
n += s.gsub(/\d+/) { |d| d + d }.size
abort "wrong: #{n}" unless n == 154_000 * (11 + 2 + 16)
R
cat > "$dir/eval.rb" <<'R'
require "erb"
b = binding
200_000.times { eval("x = 'a' * 10; x.size", b) }
50_000.times { |i| ERB.new("a <%= 1 + 1 %> b").result }
R
python3 - "$dir" "$ours" "$theirs" <<'P'
import os, subprocess, sys
top, ours, theirs = sys.argv[1:]
with open(top + "/log", "w") as log:
    for i in range(400_000):
        log.write("2026-11-17T12:00:%02d host%04d kernel[%05d]: message %-20d\n" % (i % 60, i % 1000, i % 99999, i))
def run(command, name):
    child = subprocess.Popen(command.split() + [f"{top}/{name}.rb"])
    _, status, usage = os.wait4(child.pid, 0)
    return status, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime
bad = 0
print("log: %.1f MB" % (os.path.getsize(top + "/log") / 1e6))
print("program    ours MB  ruby MB   ours s   ruby s")
for name in "strings times objects hashes lines scan eval".split():
    (status, mine, seconds), (other, yours, beside) = run(ours, name), run(theirs, name)
    wrong = status or other or (mine > 64 and mine > 2 * yours)
    bad |= bool(wrong)
    print(f"{name:10} {mine:7.1f} {yours:8.1f} {seconds:8.2f} {beside:8.2f} {'FAILED' if wrong else ''}")
sys.exit(bad)
P
status=$?
rm -rf "$dir"
exit $status
