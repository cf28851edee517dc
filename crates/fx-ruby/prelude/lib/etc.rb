module Etc
  VERSION = "1.3.0"
  Passwd = Struct.new(:name, :passwd, :uid, :gid, :gecos, :dir, :shell)
  Group = Struct.new(:name, :passwd, :gid, :mem)
  class << self
    def __u = Process.__users.map { |n, u, g, c, d, s| Passwd.new(n, "x", u, g, c, d, s) }
    def __g = Process.__groups.map { |n, g, m| Group.new(n, "x", g, m) }
    def __s(n) = String === n ? n : (n.respond_to?(:to_str) ? n.to_str : raise(TypeError, "no implicit conversion of #{n.nil? ? "nil" : n.class} into String"))
    def getpwnam(n) = (n = __s(n); __u.find { |x| x.name == n } || raise(ArgumentError, "can't find user for #{n}"))
    def getpwuid(i = Process.uid) = (i = Array.__to_int(i); __u.find { |x| x.uid == i } || raise(ArgumentError, "can't find user for #{i}"))
    def getgrnam(n) = (n = __s(n); __g.find { |x| x.name == n } || raise(ArgumentError, "can't find group for #{n}"))
    def getgrgid(i = Process.gid) = (i = Array.__to_int(i); __g.find { |x| x.gid == i } || raise(ArgumentError, "can't find group for #{i}"))
    def getlogin = ENV["USER"] || (getpwuid.name rescue nil)
    def passwd(&b) = b ? (__u.each(&b); nil) : getpwent
    def group(&b) = b ? (__g.each(&b); nil) : getgrent
    def getpwent = (@pi = (@pi || -1) + 1; __u[@pi])
    def setpwent = (@pi = nil)
    def endpwent = (@pi = nil)
    def getgrent = (@gi = (@gi || -1) + 1; __g[@gi])
    def setgrent = (@gi = nil)
    def endgrent = (@gi = nil)
    def nprocessors = 2
    def systmpdir = "/tmp"
    def sysconfdir = "/etc"
    def uname = %i[sysname nodename release version machine].zip(Process.__uname).to_h
    def sysconf(*) = 100
    def confstr(*) = "/bin:/usr/bin"
  end
end
Etc::Passwd.extend(Enumerable)
Etc::Group.extend(Enumerable)
class << Etc::Passwd; def each(&b) = Etc.__u.each(&b); end
class << Etc::Group; def each(&b) = Etc.__g.each(&b); end
