module Etc
  VERSION = "1.3.0"
  Passwd = Struct.new(:name, :passwd, :uid, :gid, :gecos, :dir, :shell)
  Group = Struct.new(:name, :passwd, :gid, :mem)
  class << self
    def __u = Process.__users.map { |n, u, g, c, d, s| Passwd.new(n, "x", u, g, c, d, s) }
    def __g = Process.__groups.map { |n, g, m| Group.new(n, "x", g, m) }
    def __s(n)
      return n if String === n
      return n.to_str if n.respond_to?(:to_str)
      raise TypeError, "no implicit conversion of #{n.nil? ? "nil" : n.class} into String"
    end
    def getpwnam(n) = (n = __s(n); __u.find { |x| x.name == n } || raise(ArgumentError, "can't find user for #{n}"))
    def getpwuid(i = Process.uid)
      i = Array.__to_int(i)
      __u.find { |x| x.uid == i } || raise(ArgumentError, "can't find user for #{i}")
    end
    def getgrnam(n) = (n = __s(n); __g.find { |x| x.name == n } || raise(ArgumentError, "can't find group for #{n}"))
    def getgrgid(i = Process.gid)
      i = Array.__to_int(i)
      __g.find { |x| x.gid == i } || raise(ArgumentError, "can't find group for #{i}")
    end
    def getlogin = ENV["USER"] || (getpwuid.name rescue nil)
    def passwd(&b) = b ? __walk(:passwd) { __u.each(&b); nil } : getpwent
    def group(&b) = b ? __walk(:group) { __g.each(&b); nil } : getgrent
    def __walk(what)
      @walks ||= {}
      raise "parallel #{what} iteration" if @walks[what]
      @walks[what] = true
      yield
    ensure
      @walks[what] = false
    end
    def getpwent = (@pi = (@pi || -1) + 1; __u[@pi])
    def setpwent = (@pi = nil)
    def endpwent = (@pi = nil)
    def getgrent = (@gi = (@gi || -1) + 1; __g[@gi])
    def setgrent = (@gi = nil)
    def endgrent = (@gi = nil)
    def nprocessors
      @processors ||= [(::File.read("/proc/cpuinfo").scan(/^processor\s*:/).size rescue 1), 1].max
    end
    def systmpdir = "/tmp"
    def sysconfdir = "/etc"
    def uname = %i[sysname nodename release version machine].zip(Process.__uname).to_h
    def sysconf(n)
      raise Errno::EINVAL, "Invalid argument - sysconf" unless SYSCONF.key?(n)
      v = SYSCONF[n]
      v == :processors ? nprocessors : v
    end
    def confstr(n) = n == CS_PATH ? "/bin:/usr/bin" : raise(Errno::EINVAL, "Invalid argument - confstr")
  end
  CS_PATH = 0
  # What Linux with the GNU C library answers; numbers as in its header.
  SYSCONF = {}
  {
    ARG_MAX: [0, 2097152], CHILD_MAX: [1, 63000], CLK_TCK: [2, 100], NGROUPS_MAX: [3, 65536], OPEN_MAX: [4, 1024],
    STREAM_MAX: [5, 16],
    TZNAME_MAX: [6, 2147483647], JOB_CONTROL: [7, 1], SAVED_IDS: [8, 1], VERSION: [29, 200809], PAGESIZE: [30, 4096],
    PAGE_SIZE: [30, 4096],
    RE_DUP_MAX: [44, 32767], LOGIN_NAME_MAX: [71, 256], TTY_NAME_MAX: [72, 32], NPROCESSORS_CONF: [83, :processors],
    NPROCESSORS_ONLN: [84, :processors], SYMLOOP_MAX: [173, nil], HOST_NAME_MAX: [180, 64], IOV_MAX: [60, 1024]
  }.each do |name, (number, value)|
    const_set(:"SC_#{name}", number)
    SYSCONF[number] = value
  end
  private_constant :SYSCONF
end
Etc::Passwd.extend(Enumerable)
Etc::Group.extend(Enumerable)
class << Etc::Passwd; def each(&b) = Etc.__u.each(&b); end
class << Etc::Group; def each(&b) = Etc.__g.each(&b); end
