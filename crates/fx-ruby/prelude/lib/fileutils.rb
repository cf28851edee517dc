module FileUtils
  module_function
  def __l(x) = (Array === x ? x.flatten : [x]).map { |p| File.__p(p) }
  # Says what is to be done if that was asked for, and whether to do it.
  def __go(verbose, noop, text)
    (@fileutils_output || $stderr).puts(text) if verbose
    !noop
  end
  # Each source with the path it gets: in the directory, if there are several or it is one.
  def __pairs(src, dest, same: true)
    into = File.__p(dest)
    each = lambda do |s, d|
      raise ArgumentError, "same file: #{s} and #{d}" if same && File.exist?(d) && File.identical?(s, d)
      yield(s, d)
    end
    return __l(src).each { |s| each.(s, File.join(into, File.basename(s))) } if src.respond_to?(:to_ary)
    s = File.__p(src)
    each.(s, File.directory?(into) ? File.join(into, File.basename(s)) : into)
  end
  def __plain(l) = [l].flatten.join(" ")
  def __forgive(force) = (yield rescue (raise unless force && SystemCallError === $!))
  def __there?(p) = File.exist?(p) || File.symlink?(p)
  def __real_dir?(p) = File.directory?(p) && !File.symlink?(p)
  def __tree(p) = [p, *(__real_dir?(p) ? Dir.children(p).flat_map { |c| __tree(File.join(p, c)) } : [])]
  def pwd = Dir.pwd
  def cd(dir, verbose: nil, &b)
    __go(verbose, nil, "cd #{dir}")
    r = Dir.chdir(dir, &b)
    __go(verbose && b, nil, "cd -")
    r
  end
  def uptodate?(new, old) = File.exist?(new) && old.all? { |o| !File.exist?(o) || File.mtime(new) > File.mtime(o) }
  def __mkdir(path, mode)
    path = path.sub(%r{(?<=.)/+\z}, "")
    return Dir.mkdir(path) unless mode
    Dir.mkdir(path, mode)
    File.chmod(mode, path)
  end
  def mkdir(list, mode: nil, noop: nil, verbose: nil)
    list = __l(list)
    list.each { |d| __mkdir(d, mode) } if __go(verbose, noop, "mkdir #{"-m %03o " % mode if mode}#{__plain(list)}")
  end
  def mkdir_p(list, mode: nil, noop: nil, verbose: nil)
    list = __l(list)
    return list unless __go(verbose, noop, "mkdir -p #{"-m %03o " % mode if mode}#{__plain(list)}")
    list.each do |path|
      missing = []
      until File.directory?(path) || path == File.dirname(path)
        missing.unshift(path)
        path = File.dirname(path)
      end
      missing.each { |d| begin; __mkdir(d, mode); rescue SystemCallError; raise unless File.directory?(d); end }
    end
  end
  def rmdir(list, parents: nil, noop: nil, verbose: nil)
    list = __l(list)
    return unless __go(verbose, noop, "rmdir #{"-p " if parents}#{__plain(list)}")
    list.each do |d|
      Dir.rmdir(d)
      begin
        Dir.rmdir(d) while parents && (d = File.dirname(d)) && d != "." && d != "/"
      rescue Errno::ENOTEMPTY, Errno::EEXIST, Errno::ENOENT
      end
    end
  end
  def ln(src, dest, force: nil, noop: nil, verbose: nil)
    return unless __go(verbose, noop, "ln#{" -f" if force} #{__plain([src, dest])}")
    __pairs(src, dest, same: false) { |s, d| remove_file(d, true) if force; File.link(s, d) }
  end
  def ln_s(src, dest, force: nil, relative: nil, noop: nil, verbose: nil)
    return unless __go(verbose, noop, "ln -s#{"f" if force} #{__plain([src, dest])}")
    __pairs(src, dest, same: false) { |s, d| remove_file(d, true) if force; File.symlink(s, d) }
  end
  def ln_sf(src, dest, noop: nil, verbose: nil) = ln_s(src, dest, force: true, noop: noop, verbose: verbose)
  def cp_lr(src, dest, noop: nil, verbose: nil, dereference_root: true, remove_destination: false)
    return unless __go(verbose, noop, "cp -lr#{" --remove-destination" if remove_destination} #{__plain([src, dest])}")
    __pairs(src, dest) { |s, d| link_entry(s, d, dereference_root, remove_destination) }
  end
  def link_entry(src, dest, dereference_root = false, remove_destination = false)
    remove_file(dest, true) if remove_destination && File.file?(dest)
    return File.link(src, dest) unless File.directory?(src) && (dereference_root || !File.symlink?(src))
    Dir.mkdir(dest) unless File.directory?(dest)
    Dir.children(src).each { |c| link_entry(File.join(src, c), File.join(dest, c), false, remove_destination) }
  end
  def cp(src, dest, preserve: nil, noop: nil, verbose: nil)
    return unless __go(verbose, noop, "cp#{" -p" if preserve} #{__plain([src, dest])}")
    __pairs(src, dest) { |s, d| copy_file(s, d, preserve) }
  end
  def cp_r(src, dest, preserve: nil, noop: nil, verbose: nil, dereference_root: true, remove_destination: nil)
    flags = "#{"p" if preserve}#{" --remove-destination" if remove_destination}"
    unless __go(verbose, noop, "cp -r#{flags} #{__plain([src, dest])}")
      return
    end
    __pairs(src, dest) { |s, d| copy_entry(s, d, preserve, dereference_root, remove_destination) }
  end
  def copy_entry(src, dest, preserve = false, dereference_root = false, remove_destination = false)
    src, dest = File.__p(src), File.__p(dest)
    stat = dereference_root ? File.stat(src) : File.lstat(src)
    if stat.directory? && "#{File.expand_path(dest)}/".start_with?("#{File.expand_path(src)}/")
      raise ArgumentError, "cannot copy directory #{src} to itself #{dest}"
    end
    remove_file(dest, true) if remove_destination && (File.file?(dest) || File.symlink?(dest))
    if stat.directory?
      Dir.mkdir(dest) unless File.directory?(dest)
      Dir.children(src).each do |c|
        copy_entry(File.join(src, c), File.join(dest, c), preserve, false, remove_destination)
      end
    elsif stat.symlink? then File.symlink(File.readlink(src), dest)
    else return copy_file(src, dest, preserve)
    end
    __preserve(stat, dest) if preserve
  end
  def copy_file(src, dest, preserve = false, dereference = true)
    src, dest = File.__p(src), File.__p(dest)
    body = File.binread(src)
    stat = File.stat(src)
    File.open(dest, "wb", stat.mode & 0o7777) { |f| f.write(body) }
    __preserve(stat, dest) if preserve
  end
  def __preserve(stat, path)
    return if stat.symlink?
    File.utime(stat.atime, stat.mtime, path)
    mode = stat.mode & 0o7777
    begin
      File.chown(stat.uid, stat.gid, path)
    rescue Errno::EPERM
      mode &= 0o1777
    end
    File.chmod(mode, path)
  end
  def copy_stream(src, dest) = IO.copy_stream(src, dest)
  def mv(src, dest, force: nil, noop: nil, verbose: nil, secure: nil)
    return unless __go(verbose, noop, "mv#{" -f" if force} #{__plain([src, dest])}")
    __pairs(src, dest) do |s, d|
      __forgive(force) do
        raise Errno::EEXIST, d if File.directory?(d)
        begin
          File.rename(s, d)
        rescue Errno::EXDEV, Errno::EPERM
          copy_entry(s, d, true)
          remove_entry(s, force)
        end
      end
    end
  end
  def rm(list, force: nil, noop: nil, verbose: nil)
    list = __l(list)
    list.each { |f| remove_file(f, force) } if __go(verbose, noop, "rm#{" -f" if force} #{__plain(list)}")
  end
  def rm_f(list, noop: nil, verbose: nil) = rm(list, force: true, noop: noop, verbose: verbose)
  def rm_r(list, force: nil, noop: nil, verbose: nil, secure: nil)
    list = __l(list)
    if __go(verbose, noop, "rm -r#{"f" if force} #{__plain(list)}")
      list.each { |f| secure ? remove_entry_secure(f, force) : remove_entry(f, force) }
    end
  end
  def rm_rf(list, noop: nil, verbose: nil, secure: nil)
    rm_r(list, force: true, noop: noop, verbose: verbose, secure: secure)
  end
  def remove_entry(path, force = false)
    __forgive(force) do
      Dir.children(path).each { |c| remove_entry(File.join(path, c), force) } if __real_dir?(path)
      __real_dir?(path) ? Dir.rmdir(path) : File.unlink(path)
    end
  end
  def remove_entry_secure(path, force = false) = __forgive(force) { File.lstat(path); remove_entry(path, force) }
  def remove_dir(path, force = false) = remove_entry(path, force)
  def remove_file(path, force = false) = __forgive(force) { File.unlink(path) }
  def compare_file(a, b) = File.size(a) == File.size(b) && File.binread(a) == File.binread(b)
  def compare_stream(a, b) = a.read == b.read
  def install(src, dest, mode: nil, owner: nil, group: nil, preserve: nil, noop: nil, verbose: nil)
    flags = "#{" -p" if preserve}#{" -m #{__mode_text(mode)}" if mode}" \
      "#{" -o #{owner}" if owner}#{" -g #{group}" if group}"
    return unless __go(verbose, noop, "install -c#{flags} #{__plain([src, dest])}")
    uid, gid = __uid(owner), __gid(group)
    __pairs(src, dest) do |s, d|
      stat = File.stat(s)
      unless File.exist?(d) && compare_file(s, d)
        remove_file(d, true)
        mkdir_p(d.end_with?("/") ? d : File.expand_path("..", d))
        d += File.basename(s) if d.end_with?("/")
        copy_file(s, d)
      end
      File.utime(stat.atime, stat.mtime, d) if preserve
      File.chmod(__mode(mode, s), d) if mode
      File.chown(uid, gid, d) if uid || gid
    end
  end
  def __mode_text(mode) = Integer === mode ? "%o" % mode : mode
  def __mode(m, f)
    return m if Integer === m
    cur = File.stat(f).mode & 07777
    m.split(",").each do |c|
      c =~ /\A([ugoa]*)([-+=])([rwxXst]*)\z/ or raise ArgumentError, "invalid symbolic file mode: #{m}"
      who, op, perm = $1.empty? ? "a" : $1, $2, $3
      bits = 0
      sel = 0
      worth = { "r" => 4, "w" => 2, "x" => 1, "X" => File.directory?(f) || cur & 0111 != 0 ? 1 : 0 }
      who.each_char do |w|
        { "u" => [6], "g" => [3], "o" => [0], "a" => [6, 3, 0] }[w].each do |s|
          sel |= 7 << s
          perm.each_char { |p| bits |= worth[p] << s if worth[p] }
        end
        bits |= 04000 if perm.include?("s") && "ua".include?(w)
        bits |= 02000 if perm.include?("s") && "ga".include?(w)
      end
      bits |= 01000 if perm.include?("t")
      cur = op == "+" ? cur | bits : op == "-" ? cur & ~bits : (cur & ~sel) | bits
    end
    cur
  end
  def chmod(mode, list, noop: nil, verbose: nil)
    list = __l(list)
    if __go(verbose, noop, "chmod #{__mode_text(mode)} #{__plain(list)}")
      list.each { |f| File.chmod(__mode(mode, f), f) }
    end
  end
  def chmod_R(mode, list, noop: nil, verbose: nil, force: nil)
    list = __l(list)
    return unless __go(verbose, noop, "chmod -R#{"f" if force} #{__mode_text(mode)} #{__plain(list)}")
    list.each { |p| __tree(p).each { |f| __forgive(force) { File.chmod(__mode(mode, f), f) unless File.symlink?(f) } } }
  end
  def __uid(u)
    return u if u.nil? || Integer === u
    return u.to_i if u =~ /\A\d+\z/
    row = Process.__users.find { |x| x[0] == u.to_s } or raise ArgumentError, "can't find user for #{u}"
    row[1]
  end
  def __gid(g)
    return g if g.nil? || Integer === g
    return g.to_i if g =~ /\A\d+\z/
    row = Process.__groups.find { |x| x[0] == g.to_s } or raise ArgumentError, "can't find group for #{g}"
    row[1]
  end
  def __owner(user, group) = group ? "#{user}:#{group}" : user || ":"
  def chown(user, group, list, noop: nil, verbose: nil)
    list = __l(list)
    return unless __go(verbose, noop, "chown #{__owner(user, group)} #{__plain(list)}")
    uid, gid = __uid(user), __gid(group)
    list.each { |f| File.chown(uid, gid, f) }
  end
  def chown_R(user, group, list, noop: nil, verbose: nil, force: nil)
    list = __l(list)
    return unless __go(verbose, noop, "chown -R#{"f" if force} #{__owner(user, group)} #{__plain(list)}")
    uid, gid = __uid(user), __gid(group)
    list.each { |p| __tree(p).each { |f| __forgive(force) { File.lchown(uid, gid, f) } } } if uid || gid
  end
  def touch(list, noop: nil, verbose: nil, mtime: nil, nocreate: nil)
    list = __l(list)
    stamp = mtime.strftime("-t %Y%m%d%H%M.%S ") if mtime
    unless __go(verbose, noop, "touch #{"-c " if nocreate}#{stamp}#{__plain(list)}")
      return
    end
    list.each do |f|
      File.open(f, "a") {} unless nocreate || File.exist?(f)
      File.utime(mtime || Time.now, mtime || Time.now, f)
    end
  end
  {
    chdir: :cd, getwd: :pwd, mkpath: :mkdir_p, makedirs: :mkdir_p, link: :ln, symlink: :ln_s, copy: :cp, move: :mv,
    remove: :rm, safe_unlink: :rm_f, rmtree: :rm_rf, identical?: :compare_file, cmp: :compare_file
  }.each do |name, of|
    alias_method name, of
    module_function name
  end
  def self.options_of(name) = instance_method(name).parameters.filter_map { |kind, key| key.to_s if kind == :key }
  def self.commands = private_instance_methods(false).grep_v(/\A__/).reject { |m| options_of(m).empty? }.map(&:to_s)
  def self.have_option?(name, option) = options_of(name).include?(option.to_s)
  # The variants that always tell or never do, made when first named.
  def self.const_missing(name)
    wishes = { Verbose: { verbose: true }, NoWrite: { noop: true }, DryRun: { noop: true, verbose: true } }
    always = wishes[name] or return super
    const_set(name, Module.new {
      include FileUtils
      FileUtils.commands.each do |m|
        of = always.slice(*FileUtils.options_of(m).map(&:to_sym))
        define_method(m) { |*a, **k, &b| super(*a, **k, **of, &b) } unless of.empty?
      end
      extend self
    })
  end
end
