# FileUtils: what is said, what is done, what is given back.
require "fileutils"
require "tmpdir"
$stderr = $stdout
Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    f = FileUtils
    p f.mkdir("a"), f.mkdir_p("b/c/d"), f.mkdir_p("b/c/d"), f.touch("a/f"), f.cp("a/f", "a/g"), f.mv("a/g", "a/h"), f.ln_s("a", "l"), f.ln_sf("a/f", "m")
    p f.cp_r("a", "z"), Dir.glob("**/*").sort
    p f.chmod(0600, "a/h"), File.stat("a/h").mode.to_s(8), f.chmod("u+x,g=r", "a/h"), File.stat("a/h").mode.to_s(8)
    p f.install("a/h", "i", mode: 0644), f.compare_file("a/f", "a/h"), f.uptodate?("a/h", ["none"])
    p f.rm_rf("z", noop: true, verbose: true), File.exist?("z")
    f.mkdir_p("x/y", mode: 0700, noop: true, verbose: true)
    f.rm(%w[a/f a/h], noop: true, verbose: true)
    f.cp("a/f", "q", preserve: true, verbose: true)
    f.mv("q", "r", verbose: true)
    f.ln_s("r", "s", verbose: true)
    p (f.touch("t", verbose: true, nocreate: true) rescue $!.message)
    f.chmod("a+r", "r", verbose: true)
    f.chown(nil, nil, "r", verbose: true)
    f.cp_r("b", "bb", verbose: true, remove_destination: true)
    f.install("r", "u", mode: 0600, verbose: true)
    f.rm_r("bb", verbose: true)
    f.rmdir("b/c/d", parents: true, verbose: true)
    f.cd("a", verbose: true) { }
    FileUtils::DryRun.rm_rf("a")
    FileUtils::Verbose.mkdir("v")
    p Dir.children(".").sort
    p (f.rm("none") rescue $!.message), f.rm_f("none"), (f.cp("r", "r") rescue $!.class), (f.mkdir("a") rescue $!.message), (f.copy_entry("none", "x") rescue $!.message)
    p (f.mv("r", "a/none/x") rescue $!.class), (f.rm_rf("a") && File.exist?("a")), f.pwd == Dir.pwd
  end
end
