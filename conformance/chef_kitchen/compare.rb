#!/usr/bin/ruby
# Compares what run.sh kept of two clients: rows of the formatter, counts, exit codes, files.
#
#   compare.rb OUT-A OUT-B [-v] [COOKBOOK.SUITE …]
#
# Prints one line a suite: equal, or what differs (codes, rows, files); -v prints the differing lines.
require 'open3'
require 'tempfile'

# What run.sh itself puts into the copy or takes away, what a program writes when it finds the time, the service that
# the original's facts start.
APART = Regexp.union(
  %r{^/(usr/bin/mandb|var/lib/(swcatalog|PackageKit)|var/lib/fail2ban/fail2ban\.sqlite3) ?},
  %r{^/etc/apt/apt\.conf\.d/(99registry|20packagekit|50appstream|docker-clean) },
  %r{^(/etc/systemd/system/|unit )packagekit\.service},
  %r{^/var/lib/varnish/kitchen/},
  /^state (dbus|polkit|packagekit|systemd-\S+)\.service/
)
# Keys, numbers and times made anew by each run: there they are, with whatever content. Of accounts the backup: the
# password is set by a command of its own.
CHANCE = %r{^/(etc/(bind/rndc\.key|ssh/ssh_host_|ldap/slapd\.d/|ssl/|shadow-)|var/lib/(dhcp/dhcpd|redis/dump|ldap/|samba/private/|postfix/master\.lock)|\S+\.db |\S+\.pid |var/lib/syslog-ng/\S+\.persist|mnt/swap|etc/varnish/secret|var/spool/postfix/pid/)}

def rows(file)
  return [] unless File.exist?(file)
  lines = File.read(file, encoding: 'UTF-8').scrub.lines.map do |line|
    line = line.sub(/\[20\d\d-\d\d-\d\dT[^\]]*\] (WARN|ERROR|INFO|FATAL|DEBUG):.*/, '').rstrip
    line.gsub(/\d+-\d+-[a-z0-9]{5,7}\b/, 'TEMP')
  end
  rows = lines.grep(/^ *(\* |- )|^Infra Phase|^Recipe: |^ *=+$|^[A-Z]\w+::\w+.*Error|^Error executing/)
  # Parts of a sensitive resource are sensitive with us: instead of a difference there is a line that says so.
  rows.map { |line| line.sub(/ in (\d+ minutes )?\d+ seconds/, '') }
      .reject { |line| line.match?(/^ *- suppressed sensitive resource$|^Synchron|^  - \S+ \(\d+(\.\d+)*\)$/) }
end

def files(file)
  return [] unless File.exist?(file)
  lines = File.readlines(file, chomp: true, encoding: 'UTF-8').grep_v(APART)
  lines = lines.map { |line| line.sub(/\.20\d{6}_\d{6}/, '.TIME') }
  lines.map { |line| line.match?(CHANCE) ? line.sub(/ \h{12}$/, '') : line }
end

def difference(one, two)
  a, b = [one, two].map { |lines| Tempfile.new.tap { |temp| temp.write(lines.join("\n"), "\n"); temp.close } }
  Open3.capture2('diff', '-U1', a.path, b.path)[0].lines.drop(2).join
end

verbose = ARGV.delete('-v')
one, two, *only = ARGV
equal = total = 0
kinds = Hash.new(0)
names = Dir["#{one}/*.codes"].map { |file| File.basename(file, '.codes') }.sort
names.each do |name|
  next if !only.empty? && !only.include?(name) && !only.include?(name[/[^.]+/])
  next unless File.exist?("#{two}/#{name}.codes")
  pairs = { 'codes' => [files("#{one}/#{name}.codes"), files("#{two}/#{name}.codes")],
            'rows' => [rows("#{one}/#{name}.1"), rows("#{two}/#{name}.1")],
            'rows of the second run' => [rows("#{one}/#{name}.2"), rows("#{two}/#{name}.2")],
            'files' => [files("#{one}/#{name}.files"), files("#{two}/#{name}.files")] }
  # On a busy machine systemctl may give no answer in time: then units are compared with nothing.
  listed = pairs['files'].all? { |lines| lines.any? { |line| line.start_with?('unit ') } }
  pairs['files'].each { |lines| lines.reject! { |line| line.start_with?('unit ', 'state ') } } unless listed
  differing = pairs.reject { |_, (a, b)| a == b }
  total += 1
  equal += 1 if differing.empty?
  differing.each_key { |kind| kinds[kind] += 1 }
  puts "#{name}: #{differing.empty? ? 'equal' : differing.keys.join(', ')} (#{pairs['codes'][0].join.strip}; #{rows("#{one}/#{name}.1").grep(/^Infra/).join[/\d+\/\d+|failed/]})"
  next unless verbose
  differing.each { |kind, (a, b)| puts "--- #{kind}", difference(a, b).lines.first(40) }
end
puts "#{equal} of #{total} equal; #{kinds.map { |kind, count| "#{kind} differ in #{count}" }.join(', ')}"
