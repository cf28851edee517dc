module Benchmark
  class Tms
    attr_reader :utime, :stime, :cutime, :cstime, :real, :total, :label
    def initialize(u = 0.0, s = 0.0, cu = 0.0, cs = 0.0, r = 0.0, l = nil)
      @utime, @stime, @cutime, @cstime, @real, @total, @label = u, s, cu, cs, r, u + s + cu + cs, l
    end
    def format(*) = "  %.6f   %.6f   %.6f (  %.6f)\n" % [utime, stime, total, real]
    alias to_s format
  end
  def self.realtime = (t = Process.clock_gettime(1); yield; Process.clock_gettime(1) - t)
  def self.measure(l = "") = (r = realtime { yield }; Tms.new(r, 0.0, 0.0, 0.0, r, l))
  def self.bm(w = 0)
    yield(Class.new { define_method(:report) { |l = "", &b| print l.to_s.ljust(w), Benchmark.measure(&b) } }.new)
  end
  class << self; alias bmbm bm; end
end
