class ERB
  VERSION = "2.2.3"
  module Util
    def html_escape(s)
      s.to_s.gsub(/['&"<>]/, { "'" => "&#39;", "&" => "&amp;", '"' => "&quot;", "<" => "&lt;", ">" => "&gt;" })
    end
    alias h html_escape
    def url_encode(s) = s.to_s.b.gsub(/[^a-zA-Z0-9_\-.~]/n) { |m| "%%%02X" % m.unpack1("C") }
    alias u url_encode
    module_function :html_escape, :h, :url_encode, :u
  end
  module DefMethod
    # A method of the module that renders a template, given as an ERB or as the name of its file.
    def def_erb_method(signature, template)
      template = ERB.new(File.read(template)).tap { |e| e.filename = template } if String === template
      template.def_method(self, signature, template.filename || "(ERB)")
    end
    module_function :def_erb_method
  end
  def self.version = VERSION
  attr_accessor :filename, :lineno
  attr_reader :src, :encoding
  NOT_GIVEN = Object.new
  private_constant :NOT_GIVEN
  def initialize(str, safe = NOT_GIVEN, trim = NOT_GIVEN, out = NOT_GIVEN, trim_mode: nil, eoutvar: "_erbout")
    # `uplevel` counts from here, so the three calls stand in this method.
    unless NOT_GIVEN.equal?(safe)
      warn "Passing safe_level with the 2nd argument of ERB.new is deprecated. " \
           "Do not use it, and specify other arguments as keyword arguments.", uplevel: 1
    end
    unless NOT_GIVEN.equal?(trim)
      warn "Passing trim_mode with the 3rd argument of ERB.new is deprecated. " \
           "Use keyword argument like ERB.new(str, trim_mode: ...) instead.", uplevel: 1
      trim_mode = trim
    end
    unless NOT_GIVEN.equal?(out)
      warn "Passing eoutvar with the 4th argument of ERB.new is deprecated. " \
           "Use keyword argument like ERB.new(str, eoutvar: ...) instead.", uplevel: 1
      eoutvar = out
    end
    @out = eoutvar
    @encoding = str.encoding
    @lineno = 0
    @src = compile(str, trim_mode)
  end
  def location=((f, l))
    @filename = f
    @lineno = l if l
  end
  def result(b = new_toplevel) = eval(@src, b, (@filename || "(erb)"), @lineno)
  def result_with_hash(h)
    b = TOPLEVEL_BINDING.receiver.instance_eval { binding }
    h.each { |k, v| b.local_variable_set(k, v) }
    result(b)
  end
  def run(b = TOPLEVEL_BINDING) = ($stdout.write(result(b)); nil)
  def def_method(mod, sig, fname = "(ERB)") = mod.module_eval("def #{sig}\n#{@src}\nend\n", fname, -1)
  def def_module(m = "erb") = Module.new.tap { |x| def_method(x, m, @filename || "(ERB)") }
  def def_class(sup = Object, m = "result") = Class.new(sup).tap { |x| def_method(x, m, @filename || "(ERB)") }
  private
  # Its own variables, so that templates do not see those of each other.
  def new_toplevel = TOPLEVEL_BINDING.dup
  def compile(str, mode)
    mode = { 0 => "", 1 => ">", 2 => "<>" }[mode] if mode.is_a?(Integer)
    ERB.__compile(str, mode.to_s, @out.to_s, str.encoding.to_s) or raise SyntaxError, "unterminated ERB tag"
  end
end
