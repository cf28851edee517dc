module FileUtils
  module_function
  def __l(x) = (Array === x ? x.flatten : [x]).map { |p| File.__p(p) }
  def pwd = Dir.pwd
  def cd(d, **k, &b) = Dir.chdir(d, &b)
  def mkdir(l, mode: nil, noop: nil, verbose: nil) = __l(l).each { |d| mode ? Dir.mkdir(d, mode) : Dir.mkdir(d) }
  def mkdir_p(l, mode: nil, noop: nil, verbose: nil)
    __l(l).each do |d|
      at = d.start_with?("/") ? "" : "."
      d.split("/").each do |x|
        next if x.empty?
        at = at + "/" + x
        begin
          Dir.mkdir(at) unless File.directory?(at)
        rescue Errno::EEXIST
          raise unless File.directory?(at)
        end
      end
      File.chmod(mode, d) if mode
    end
  end
  def rmdir(l, parents: nil, **k) = __l(l).each { |d| Dir.rmdir(d) }
  def rm(l, force: nil, **k) = __l(l).each { |f| begin; File.unlink(f); rescue SystemCallError; raise unless force; end }
  def rm_f(l, **k) = rm(l, force: true)
  def rm_r(l, force: nil, secure: nil, **k)
    __l(l).each do |f|
      begin
        if File.directory?(f) && !File.symlink?(f)
          Dir.children(f).each { |c| rm_r(File.join(f, c), force: force) }
          Dir.rmdir(f)
        else
          File.unlink(f)
        end
      rescue SystemCallError
        raise unless force
      end
    end
  end
  def rm_rf(l, **k) = rm_r(l, force: true)
  def touch(l, mtime: nil, nocreate: nil, **k) = __l(l).each { |f| t = mtime || Time.now; File.exist?(f) ? File.utime(t, t, f) : (File.open(f, "a") {} unless nocreate) }
  def __dest(s, d) = File.directory?(d) ? File.join(d, File.basename(s)) : d
  def cp(s, d, preserve: nil, **k) = __l(s).each { |f| t = __dest(f, File.__p(d)); File.binwrite(t, File.binread(f)); st = File.stat(f); File.chmod(st.mode & 0777, t); File.utime(st.atime, st.mtime, t) if preserve }
  def copy(*a, **k) = cp(*a, **k)
  def copy_file(s, d, *a) = cp(s, d)
  def cp_r(s, d, preserve: nil, remove_destination: nil, **k)
    __l(s).each do |f|
      t = __dest(f.chomp("/."), File.__p(d))
      t = d.to_s if f.end_with?("/.")
      if File.directory?(f)
        mkdir_p(t)
        Dir.children(f).each { |c| cp_r(File.join(f, c), File.join(t, c)) }
      elsif File.symlink?(f) then File.symlink(File.readlink(f), t)
      else cp(f, t, preserve: preserve)
      end
    end
  end
  def mv(s, d, force: nil, **k) = __l(s).each { |f| File.rename(f, __dest(f, File.__p(d))) }
  def move(*a, **k) = mv(*a, **k)
  def ln(s, d, force: nil, **k) = __l(s).each { |f| t = __dest(f, File.__p(d)); File.unlink(t) if force && (File.exist?(t) || File.symlink?(t)); File.link(f, t) }
  def ln_s(s, d, force: nil, relative: nil, **k) = __l(s).each { |f| t = __dest(f, File.__p(d)); File.unlink(t) if force && (File.exist?(t) || File.symlink?(t)); File.symlink(f, t) }
  def ln_sf(s, d, **k) = ln_s(s, d, force: true)
  def link(*a, **k) = ln(*a, **k)
  def symlink(*a, **k) = ln_s(*a, **k)
  def __mode(m, f)
    return m if Integer === m
    cur = File.stat(f).mode & 07777
    m.split(",").each do |c|
      c =~ /\A([ugoa]*)([-+=])([rwxXst]*)\z/ or raise ArgumentError, "invalid symbolic file mode: #{m}"
      who, op, perm = $1.empty? ? "a" : $1, $2, $3
      bits = 0
      sel = 0
      who.each_char { |w| sh = { "u" => [6], "g" => [3], "o" => [0], "a" => [6, 3, 0] }[w]; sh.each { |s| sel |= 7 << s; perm.each_char { |p| v = { "r" => 4, "w" => 2, "x" => 1, "X" => (File.directory?(f) || cur & 0111 != 0 ? 1 : 0) }[p]; bits |= v << s if v } }
        bits |= 04000 if perm.include?("s") && "ua".include?(w)
        bits |= 02000 if perm.include?("s") && "ga".include?(w) }
      bits |= 01000 if perm.include?("t")
      cur = op == "+" ? cur | bits : op == "-" ? cur & ~bits : (cur & ~sel) | bits
    end
    cur
  end
  def chmod(m, l, **k) = __l(l).each { |f| File.chmod(__mode(m, f), f) }
  def chmod_R(m, l, **k) = __l(l).each { |f| chmod(m, f); Dir.children(f).each { |c| chmod_R(m, File.join(f, c)) } if File.directory?(f) && !File.symlink?(f) }
  def __uid(u) = u.nil? || Integer === u ? u : (u =~ /\A\d+\z/ ? u.to_i : (Process.__users.find { |x| x[0] == u.to_s } || raise(ArgumentError, "can't find user for #{u}"))[1])
  def __gid(g) = g.nil? || Integer === g ? g : (g =~ /\A\d+\z/ ? g.to_i : (Process.__groups.find { |x| x[0] == g.to_s } || raise(ArgumentError, "can't find group for #{g}"))[1])
  def chown(u, g, l, **k) = __l(l).each { |f| File.chown(__uid(u), __gid(g), f) }
  def chown_R(u, g, l, **k) = __l(l).each { |f| chown(u, g, f); Dir.children(f).each { |c| chown_R(u, g, File.join(f, c)) } if File.directory?(f) && !File.symlink?(f) }
  def install(s, d, mode: nil, owner: nil, group: nil, **k) = __l(s).each { |f| t = __dest(f, File.__p(d)); cp(f, t); chmod(mode, t) if mode; chown(owner, group, t) if owner || group }
  def compare_file(a, b) = File.size(a) == File.size(b) && File.binread(a) == File.binread(b)
  def identical?(a, b) = compare_file(a, b)
  def cmp(a, b) = compare_file(a, b)
  def uptodate?(n, l) = File.exist?(n) && l.all? { |o| !File.exist?(o) || File.mtime(n) > File.mtime(o) }
  def remove_entry(p, force = false) = rm_r(p, force: force)
  def remove_entry_secure(p, force = false) = rm_r(p, force: force)
  def remove_dir(p, force = false) = rm_r(p, force: force)
  def remove_file(p, force = false) = rm(p, force: force)
  def getwd = Dir.pwd
  class << self
    alias mkpath mkdir_p
    alias makedirs mkdir_p
    alias remove rm
    alias rmtree rm_rf
    alias chdir cd
  end
  module Verbose; include FileUtils; end
  module NoWrite; include FileUtils; end
  module DryRun; include FileUtils; end
end
