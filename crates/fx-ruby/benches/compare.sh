#!/bin/sh
# Runs six small programs with our runtime and with the machine's ruby, best CPU time of
# four each. Usage: compare.sh "target/release/fixpoint ruby" [ruby]
ours=${1:-target/release/fixpoint ruby}
theirs=${2:-ruby --disable-gems}
dir=$(mktemp -d)
cat > "$dir/fib.rb" <<'R'
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
fib(27)
R
cat > "$dir/while.rb" <<'R'
i = 0
s = 0
while i < 5_000_000
  s += i & 7
  i += 1
end
R
cat > "$dir/array.rb" <<'R'
a = []
1_000_000.times { |i| a << i }
t = 0
a.map { |x| x * 2 }.select { |x| x % 3 == 0 }.each { |x| t += x }
R
cat > "$dir/hash.rb" <<'R'
h = {}
500_000.times { |i| h["k#{i % 1000}"] = i }
g = { a: 1, b: 2, c: 3 }
n = 0
1_000_000.times { n += g[:a] + g[:c] }
R
cat > "$dir/objects.rb" <<'R'
class P
  def initialize(x) = @x = x
  def x = @x
  def add(n) = @x += n
  def each2(n)
    i = 0
    while i < n
      yield i
      i += 1
    end
  end
end
p = P.new(1)
3_000_000.times { p.add(1) }
s = 0
p.each2(2_000_000) { |i| s += i }
R
cat > "$dir/strings.rb" <<'R'
s = +""
500_000.times { |i| s << "w#{i} " }
s.split(" ").map { |w| w.upcase }.join(",").size
R
best() {
  python3 - "$@" <<'P'
import resource, subprocess, sys
best = 1e9
for _ in range(4):
    a = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
    b = resource.getrusage(resource.RUSAGE_CHILDREN)
    best = min(best, b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime)
print("%.3f" % best)
P
}
printf 'program\tours\truby\tratio\n'
for program in fib while array hash objects strings; do
  a=$(best $ours "$dir/$program.rb")
  b=$(best $theirs "$dir/$program.rb")
  printf '%s\t%s\t%s\t%s\n' "$program" "$a" "$b" "$(python3 -c "print('%.2f' % ($b / $a))")"
done
a=$(best $ours -e 1)
printf 'start\t%s\n' "$a"
rm -rf "$dir"
