# Which function of the machine failed, as Ruby names it, and what is asked of processes that are not there.
n = "/nonexist/x"
def t
  yield
  puts "fine"
rescue SystemCallError => e
  puts "#{e.class}: #{e.message}"
end
%i[stat lstat size mtime atime ctime ftype readlink].each { |m| t { File.send(m, n) } }
t { File::Stat.new(n) }
t { File.chown(0, 0, n) }
t { File.truncate(n, 0) }
t { Process.kill(0, 999_999_99) }
t { exec("/nonexist/c") }
t { Process.wait }
pid = spawn("echo from a child; exit 3")
p Process.wait(pid) == pid, $?.exitstatus
p system("echo seen; echo unseen >&2", err: File::NULL), system("echo unseen", out: File::NULL)
p system("cat", in: ["/etc/hostname"], out: File::NULL), system({ "X_Y" => "1" }, "echo $X_Y")
require "open3"
p Open3.popen3("cat; echo err >&2") { |i, o, e, th| i.write("fed"); i.close; [o.read, e.read, th.value.success?] }
p Open3.capture2("tr a b", stdin_data: "banana")[0]
p $stdout, $stderr.dup.class
p File.exists?("/etc"), Dir.exists?("/etc"), "a".untaint, :a.frozen?
p "abc".casecmp(1), "a".casecmp?(:a), ("abc" =~ "b" rescue $!.message), ("abc".encode("FOO") rescue [$!.class, $!.message]), ("a\xff".unicode_normalize rescue $!.message)
p proc { |a = 1| }.arity, proc { |a, b = 1| }.arity, proc { |a, b = 1, *c| }.arity, proc { |a, b:| }.arity, lambda { |a = 1| }.arity
p (Math.sqrt(-1) rescue $!.message), (Class.new(5) rescue $!.message), test("M", "/etc") == File.mtime("/etc")
def returned = eval("return 5; 6")
p returned, (eval("return 1") rescue $!.message)
require "json"
seen = []
p JSON.load(""), JSON.load('{"a":[1]}', proc { |v| seen << v }), seen
require "shellwords"
p ("a 'b".shellsplit rescue $!.message)
