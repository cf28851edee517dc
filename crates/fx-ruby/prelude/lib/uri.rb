module URI
  VERSION_CODE = "001100"
  VERSION = "0.11.0"
  class Error < StandardError; end
  class InvalidURIError < Error; end
  class InvalidComponentError < Error; end
  class BadURIError < Error; end
  class Generic
    include Comparable rescue nil
    COMPONENT = %i[scheme userinfo host port registry path opaque query fragment].freeze
    attr_reader :scheme, :host, :path, :query, :fragment, :opaque, :user, :password
    def registry = nil
    def self.default_port = const_defined?(:DEFAULT_PORT) ? self::DEFAULT_PORT : nil
    def self.component = self::COMPONENT
    def self.build(a)
      h = Hash === a ? a : component.zip(a).to_h
      ui = h[:userinfo]
      scheme = h[:scheme] || (self == Generic ? nil : name.split("::").last.downcase)
      new(scheme, ui, h[:host], h[:port], nil, h[:path] || "", h[:opaque], h[:query], h[:fragment])
    end
    def initialize(scheme, userinfo, host, port, registry, path, opaque, query, fragment, parser = nil,
                   arg_check = false)
      @scheme = scheme&.downcase
      @user, @password = userinfo.to_s.split(":", 2) if userinfo
      @host, @path, @opaque, @query, @fragment = host, opaque && path.nil? ? nil : path || "", opaque, query, fragment
      @port = port ? port.to_i : default_port
    end
    def default_port = self.class.default_port
    attr_reader :port
    def userinfo = @user.nil? ? nil : (@password ? "#{@user}:#{@password}" : @user)
    def hostname = @host && @host.start_with?("[") ? @host[1..-2] : @host
    def hostname=(v)
      @host = v
    end
    %w[
      scheme host path query fragment user password opaque
    ].each { |n| define_method("#{n}=") { |v| instance_variable_set("@#{n}", v) } }
    def port=(v)
      @port = v && v.to_i
    end
    def userinfo=(v)
      @user, @password = v&.split(":", 2)
    end
    def absolute? = !@scheme.nil?
    alias absolute absolute?
    def relative? = !absolute?
    def hierarchical? = @opaque.nil?
    def request_uri = (p = @path.empty? ? "/" : @path; @query ? "#{p}?#{@query}" : p)
    def to_s
      s = +""
      s << @scheme << ":" if @scheme
      return s << @opaque << (@fragment ? "##{@fragment}" : "") if @opaque
      if @host || %w[file].include?(@scheme.to_s)
        s << "//"
        s << userinfo << "@" if userinfo
        s << @host.to_s
        s << ":#{@port}" if @port && @port != default_port
      end
      p = @path
      p = "/" + p if @host && !p.empty? && !p.start_with?("/")
      s << p
      s << "?" << @query if @query
      s << "#" << @fragment if @fragment
      s
    end
    alias to_str_ to_s
    def inspect = "#<#{self.class} #{self}>"
    def ==(o) = self.class == o.class && normalize.to_s == o.normalize.to_s
    def eql?(o) = self.class == o.class && to_s == o.to_s
    def hash = to_s.hash
    def normalize
      u = dup
      u.scheme = @scheme&.downcase
      u.host = @host&.downcase
      u.path = "/" if @path&.empty? && @host
      u
    end
    def normalize! = (@host = @host&.downcase; @path = "/" if @path&.empty? && @host; self)
    def component = self.class.component
    def select(*c)
      bad = c.find { |x| !component.include?(x) }
      raise ArgumentError, "expected of components of #{self.class} (#{component.join(", ")})" if bad
      c.map { |x| __send__(x) }
    end
    def merge(o)
      o = URI.__uri(o)
      return o.dup if o.absolute?
      raise BadURIError, "both URI are relative" unless absolute?
      u = dup
      if o.host
        u.host, u.port, u.path, u.query, u.fragment = o.host, o.port || default_port, o.path, o.query, o.fragment
        return u
      end
      if o.path.empty?
        u.query = o.query if o.query
      else
        u.path = URI.__merge(@path, o.path)
        u.query = o.query
      end
      u.fragment = o.fragment
      u
    end
    alias + merge
    def merge!(o)
      u = merge(o)
      %w[scheme host path query fragment].each { |n| instance_variable_set("@#{n}", u.__send__(n)) }
      self
    end
    def route_to(o) = URI.__uri(o).route_from(self)
    def route_from(o)
      o = URI.__uri(o)
      return dup unless @scheme == o.scheme && @host == o.host && @port == o.port
      if @path == o.path
        same = @query == o.query
        path = same || @query ? "" : @path[%r{[^/]*\z}].then { |x| x.empty? ? "./" : x }
        return Generic.new(nil, nil, nil, nil, nil, path, nil, same ? nil : @query, @fragment)
      end
      a, b = @path.to_s.split("/", -1), o.path.to_s.split("/", -1)
      last = a.pop
      b.pop
      while !a.empty? && a[0] == b[0]
        a.shift
        b.shift
      end
      Generic.new(nil, nil, nil, nil, nil, ([".."] * b.size + a + [last]).join("/"), nil, @query, @fragment)
    end
    alias - route_from
    def coerce(o) = [URI.parse(o.to_s), self]
    def find_proxy(*) = nil
  end
  class HTTP < Generic
    DEFAULT_PORT = 80
    COMPONENT = %i[scheme userinfo host port path query fragment].freeze
    def authority = @port == default_port ? @host : "#{@host}:#{@port}"
    def origin = "#{@scheme}://#{authority}"
  end
  class HTTPS < HTTP; DEFAULT_PORT = 443; end
  class FTP < Generic
    DEFAULT_PORT = 21
    attr_accessor :typecode
    COMPONENT = %i[scheme userinfo host port path typecode].freeze
    def path = @path.sub(%r{\A/}, "").sub(/\A%2F/, "/")
    def path=(v)
      @path = v.start_with?("/") ? "/%2F" + v[1..] : "/" + v
    end
    def to_s
      s = super
      @typecode ? "#{s};type=#{@typecode}" : s
    end
    def initialize(*a)
      super
      return unless @path.include?(";type=")
      @path, @typecode = @path.split(";type=", 2)
    end
  end
  class LDAP < Generic
    DEFAULT_PORT = 389
    COMPONENT = %i[scheme host port dn attributes scope filter extensions].freeze
    def dn = @path[1..]
    %i[attributes scope filter extensions].each_with_index do |name, i|
      define_method(name) { @query&.split("?")&.at(i) }
    end
  end
  class LDAPS < LDAP; DEFAULT_PORT = 636; end
  class File < Generic; end
  class WS < Generic; DEFAULT_PORT = 80; end
  class WSS < WS; DEFAULT_PORT = 443; end
  class MailTo < Generic
    COMPONENT = %i[scheme to headers].freeze
    def self.build(a)
      h = Hash === a ? a : { to: a[0], headers: a[1] }
      to = h[:to].to_s
      raise InvalidComponentError, "unrecognised opaque part for mailtoURL: #{to}" unless to.match?(/\A[^\s<>"#?]*\z/)
      list = h[:headers]
      list = list.map { |x| Array === x ? x.join("=") : x }.join("&") if Array === list
      new("mailto", nil, nil, nil, nil, nil, list.to_s.empty? ? to : "#{to}?#{list}", nil, nil)
    end
    def to = @opaque.to_s.split("?")[0]
    def headers = @opaque.to_s.split("?", 2)[1].to_s.split("&").map { |x| x.split("=", 2) }
    def to_mailtext = "To: #{to}\n\n\n"
  end
  SCHEMES = {
    "HTTP" => HTTP, "HTTPS" => HTTPS, "FTP" => FTP, "LDAP" => LDAP, "LDAPS" => LDAPS,
    "FILE" => File, "MAILTO" => MailTo, "WS" => WS, "WSS" => WSS
  }
  TBLENCWWWCOMP_ = {}
  # scheme, userinfo, host, port, path, query, fragment
  # Without blanks inside, so that the small matcher of the runtime takes it.
  PARTS_ = Regexp.new('\A(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://(?:([^/?#@]*)@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?)?' \
    '([^?#]*)(?:\?([^#]*))?(?:\#(.*))?\z', Regexp::MULTILINE)
  class << self
    def scheme_list = SCHEMES
    def register_scheme(n, k) = (SCHEMES[n.to_s.upcase] = k)
    def for(s, *a, default: Generic) = (SCHEMES[s.to_s.upcase] || default).new(s, *a)
    def split(u)
      u = u.to_str
      if u =~ /[\s<>\\^`{|}]|[^\x00-\x7f]/ || u =~ /%(?!\h\h)/
        raise InvalidURIError, "bad URI(is not URI?): #{u.inspect}"
      end
      u =~ PARTS_ or raise InvalidURIError, "bad URI(is not URI?): #{u.inspect}"
      scheme, ui, host, port, path, q, f = $1, $2, $3, $4, $5, $6, $7
      if host && host =~ /_\z|[^A-Za-z0-9._~\-\[\]:%!$&'()*+,;=]/
        raise InvalidURIError, "bad URI(is not URI?): #{u.inspect}"
      end
      port = nil if port == ""
      if scheme && host.nil? && !path.start_with?("/") && !path.empty?
        return [scheme, nil, nil, nil, nil, nil, q ? "#{path}?#{q}" : path, nil, f]
      end
      [scheme, ui, host, port, nil, path, nil, q, f]
    end
    def __of(u)
      return u if Generic === u
      raise ArgumentError, "bad argument (expected URI object or URI string)" unless u.respond_to?(:to_str)
      parse(u.to_str)
    end
    def parse(u)
      return u if Generic === u
      raise InvalidURIError, "bad URI(is not URI?): #{u.inspect}" unless u.respond_to?(:to_str)
      a = split(u)
      (SCHEMES[a[0].to_s.upcase] || Generic).new(*a)
    end
    def join(first, *rest) = rest.inject(__uri(first)) { |a, x| a.merge(x) }
    def __uri(v)
      return v if Generic === v
      raise InvalidURIError, "bad URI(is not URI?): #{v.inspect}" unless v.respond_to?(:to_str)
      parse(v.to_str)
    end
    def __merge(base, rel)
      return norm(rel) if rel.start_with?("/")
      norm((base.empty? ? "/" : base.sub(%r{[^/]*\z}, "")) + rel)
    end
    def norm(p)
      out = []
      parts = p.split("/", -1)
      parts.each_with_index do |x, i|
        if x == ".." then out.pop if out.size > 1; out << "" if i == parts.size - 1
        elsif x == "." then out << "" if i == parts.size - 1
        else out << x
        end
      end
      r = out.join("/")
      r.start_with?("/") ? r : "/" + r
    end
    def extract(s, schemes = nil, &b)
      found = s.to_enum(:scan, regexp(schemes)).map { $& }
      return found unless b
      found.each(&b)
      nil
    end
    def regexp(schemes = nil) = %r{(?:#{schemes ? Array(schemes).join("|") : "[a-zA-Z][a-zA-Z0-9+.-]*"}):[^\s<>"]*}
    def encode_www_form_component(s, *)
      s.to_s.b.gsub(/[^*\-.0-9A-Z_a-z]/n) { |c| c == " " ? "+" : "%%%02X" % c.ord }.force_encoding("US-ASCII")
    end
    def decode_www_form_component(s, enc = Encoding::UTF_8)
      raise ArgumentError, "invalid %-encoding (#{s})" if s =~ /%(?!\h\h)/
      s.b.tr("+", " ").gsub(/%\h\h/n) { |x| x[1..].hex.chr }.force_encoding(enc)
    end
    def encode_uri_component(s, *) = encode_www_form_component(s).gsub("+", "%20")
    def decode_uri_component(s, e = Encoding::UTF_8) = s.b.gsub(/%\h\h/n) { |x| x[1..].hex.chr }.force_encoding(e)
    def encode_www_form(e, *)
      one = lambda do |k, v|
        k = encode_www_form_component(k)
        v.nil? ? k : "#{k}=#{encode_www_form_component(v)}"
      end
      e.map { |k, v| v.respond_to?(:to_ary) ? v.to_ary.map { |x| one.(k, x) }.join("&") : one.(k, v) }.join("&")
    end
    def decode_www_form(s, e = Encoding::UTF_8, separator: "&", **k)
      s.split(separator).map do |x|
        a, b = x.split("=", 2)
        [decode_www_form_component(a.to_s, e), decode_www_form_component(b.to_s, e)]
      end
    end
    def open(u, *a) = (require "net/http"; require "stringio"; StringIO.new(Net::HTTP.get(parse(u))))
  end
  class Parser_
    def parse(u) = URI.parse(u)
    def split(u) = URI.split(u)
    def join(*a) = URI.join(*a)
    def extract(*a) = URI.extract(*a)
    def make_regexp(*a) = URI.regexp(*a)
    def escape(s, unsafe = /[^\-_.!~*'()a-zA-Z\d;\/?:@&=+$,\[\]]/)
      s.b.gsub(unsafe) { |c| c.bytes.map { |b| "%%%02X" % b }.join }.force_encoding("US-ASCII")
    end
    def unescape(s) = s.b.gsub(/%\h\h/n) { |x| x[1..].hex.chr }.force_encoding(s.encoding)
    def regexp = { ABS_URI: /\A[a-zA-Z][a-zA-Z0-9+.-]*:.*\z/m, UNSAFE: /[^\-_.!~*'()a-zA-Z\d;\/?:@&=+$,\[\]]/ }
  end
  Parser = RFC2396_Parser = Parser_
  RFC3986_Parser = Parser_
  DEFAULT_PARSER = Parser_.new
  module Util; end
  module REGEXP; module PATTERN; end; end
end
