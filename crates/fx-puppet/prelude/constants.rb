# Constants that are not there yet: parts of the prelude and libraries, read when they are first named.
module FixpointParts
  AREAS = {
    Functions: "functions", Pops: "pops", LookupContext: "pops", LookupValue: "pops",
    Parser: "parser", Type: "type", Parameter: "type", Property: "type", Provider: "type",
    CompilableResourceType: "type", ResourceApi: "resource_api", Resource: "parser",
    FileServing: "file_serving",
    Face: "face", Interface: "face", Application: "face", Transaction: "transaction",
    Graph: "transaction", Reports: "face",
  }.freeze
  def const_missing(name)
    if name == :Bridge
      raise NameError, "the bridge is not there"
    end
    part = AREAS[name]
    return super unless part
    Puppet::Bridge.part(part)
    const_get(name)
  end
end
Puppet.extend(FixpointParts)
class Module
  FIXPOINT_PARTS = { Facter: "facter", SemanticPuppet: "pops", Hiera: "face", PuppetX: "face" }.freeze
  FIXPOINT_LIBS = {
    ERB: "erb", JSON: "json", YAML: "yaml", Psych: "yaml", Digest: "digest", OpenSSL: "openssl", Base64: "base64",
    Open3: "open3", FileUtils: "fileutils", Tempfile: "tempfile", StringIO: "stringio", IPAddr: "ipaddr", Etc: "etc",
    URI: "uri", Date: "date", DateTime: "date", SecureRandom: "securerandom", Pathname: "pathname",
    Shellwords: "shellwords", Timeout: "timeout", Forwardable: "forwardable", Singleton: "singleton",
    OpenStruct: "ostruct", StringScanner: "strscan",
    CGI: "cgi", Socket: "socket", Logger: "logger", BigDecimal: "bigdecimal", RbConfig: "rbconfig", Net: "net/http",
    SimpleDelegator: "delegate", Delegator: "delegate", Benchmark: "benchmark", CSV: "csv", REXML: "rexml/document",
  }.freeze
  alias __plain_const_missing const_missing
  def const_missing(name)
    if (part = FIXPOINT_PARTS[name]) && !Object.const_defined?(name, false)
      Puppet::Bridge.part(part)
      return Object.const_get(name)
    end
    if name == :PSON
      require "json"
      return Object.const_set(:PSON, JSON)
    end
    if (lib = FIXPOINT_LIBS[name])
      __plain_require(lib)
      return Object.const_get(name) if Object.const_defined?(name)
    end
    if defined?(Puppet::Type) && self == Puppet::Type
      found = Puppet::Type.type(name.to_s.gsub(/([a-z0-9])([A-Z])/, '\\1_\\2').downcase)
      return found if found
    end
    if defined?(Puppet::Type) && is_a?(Class) && self < Puppet::Type
      return attrclass(name.to_s.downcase.to_sym) || const_set(name, Class.new(Puppet::Property))
    end
    __plain_const_missing(name)
  end
end
