module Digest
  class DigestError < StandardError; end
  module Instance
    def update(s) = (@b << s.to_str.b; self)
    alias << update
    def reset = (@b = "".b; self)
    def digest(s = nil) = s ? (reset; update(s); r = finish_; reset; r) : finish_
    def digest! = (r = finish_; reset; r)
    def hexdigest(s = nil) = digest(s).unpack1("H*")
    def hexdigest! = digest!.unpack1("H*")
    def base64digest(s = nil) = [digest(s)].pack("m0")
    def base64digest! = [digest!].pack("m0")
    def to_s = hexdigest
    def inspect = "#<#{self.class}: #{hexdigest}>"
    def ==(o) = Instance === o ? digest == o.digest : (o.respond_to?(:to_str) ? hexdigest == o.to_str : false)
    def digest_length = digest.bytesize
    def length = digest_length
    alias size length
    def block_length = %w[SHA384 SHA512].include?(algo_) ? 128 : 64
    def file(p) = update(File.binread(p))
    def new = self.class.new
    def initialize_copy(o) = (@b = o.instance_variable_get(:@b).dup)
  end
  class Class
    include Instance
    def initialize = @b = "".b
    def finish_ = Digest.__hash(algo_, @b)
    def algo_ = self.class::ALGO
    class << self
      def digest(s, *a) = new(*a).digest(s)
      def hexdigest(s, *a) = new(*a).hexdigest(s)
      def base64digest(s, *a) = new(*a).base64digest(s)
      def file(p) = new.file(p)
    end
  end
  class Base < Class; end
  %w[MD5 SHA1 SHA256 SHA384 SHA512].each { |n| const_set(n, ::Class.new(Base) { const_set(:ALGO, n) }) }
  class SHA2 < Class
    def initialize(bits = 256)
      raise ArgumentError, "unsupported bit length: %s" % bits.inspect unless [256, 384, 512].include?(bits)
      @bits = bits
      super()
    end
    def algo_ = "SHA#{@bits}"
    def inspect = "#<Digest::SHA2:#{@bits} #{hexdigest}>"
  end
  def self.hexencode(s) = s.unpack1("H*")
end
def Digest(n) = Digest.const_get(n)
