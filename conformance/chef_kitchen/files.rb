#!/usr/bin/ruby
# Lists the files below a directory: name, kind and mode, owner, digest or target. Left out is what differs between any
# two runs of one client: logs, what dpkg and apt keep, keys made at random, times.
require 'digest'

OWN = %w[var/log var/lib/dpkg var/lib/apt var/cache opt/kitchen var/lib/fixpoint var/lib/systemd var/tmp
         root/.chef root/.cache usr/local/bin/fixpoint var/lib/private work etc/machine-id etc/ld.so.cache var/backups
         root/.fixpoint etc/.pwd.lock].freeze
Dir.chdir(ARGV[0])
Dir.glob('**/*', File::FNM_DOTMATCH).sort.each do |name|
  next if OWN.any? { |own| name == own || name.start_with?("#{own}/") } || name.end_with?('.pyc', '/.')
  stat = File.lstat(name)
  what =
    if stat.symlink? then File.readlink(name)
    elsif stat.file? then Digest::SHA1.file(name).hexdigest[0, 12]
    elsif stat.chardev? then 'removed'
    else ''
    end
  puts format('/%s %s %o %d:%d %s', name, stat.ftype, stat.mode & 0o7777, stat.uid, stat.gid, what)
end
