class ERB
  module Util
    def html_escape(s) = s.to_s.gsub(/['&"<>]/, { "'" => "&#39;", "&" => "&amp;", '"' => "&quot;", "<" => "&lt;", ">" => "&gt;" })
    alias h html_escape
    def url_encode(s) = s.to_s.b.gsub(/[^a-zA-Z0-9_\-.~]/n) { |m| "%%%02X" % m.unpack1("C") }
    alias u url_encode
    module_function :html_escape, :h, :url_encode, :u
  end
  def self.version = "4.0.2"
  attr_accessor :filename, :lineno
  attr_reader :src, :encoding
  def initialize(str, safe = nil, legacy_trim = nil, legacy_out = "_erbout", trim_mode: nil, eoutvar: "_erbout")
    trim_mode = legacy_trim if legacy_trim
    eoutvar = legacy_out if legacy_out != "_erbout"
    @out = eoutvar
    @encoding = str.encoding
    @lineno = 0
    @src = compile(str, trim_mode)
  end
  def location=((f, l))
    @filename = f
    @lineno = l if l
  end
  def result(b = TOPLEVEL_BINDING) = eval(@src, b, (@filename || "(erb)"), @lineno)
  def result_with_hash(h)
    b = TOPLEVEL_BINDING.dup rescue binding
    b = Object.new.instance_eval { binding }
    h.each { |k, v| b.local_variable_set(k, v) }
    result(b)
  end
  def run(b = TOPLEVEL_BINDING) = print(result(b))
  def def_method(mod, sig, fname = "(ERB)") = mod.module_eval("def #{sig}\n#{@src}\nend\n", fname, -1)
  def def_module(m = "erb") = Module.new.tap { |x| def_method(x, m, @filename || "(ERB)") }
  def def_class(sup = Object, m = "result") = Class.new(sup).tap { |x| def_method(x, m, @filename || "(ERB)") }
  private
  def compile(str, mode)
    percent = mode.to_s.include?("%")
    m = mode.is_a?(Integer) ? { 0 => "", 1 => ">", 2 => "<>" }[mode].to_s : mode.to_s.delete("%")
    src = +"#coding:#{str.encoding}\n#{@out} = +''; "
    text = +""
    put = ->(t) { text << t }
    nl = 0
    emit = lambda do
      unless text.empty?
        src << "#{@out}.<< #{dump(text)}.freeze; "
        src << "\n" * text.count("\n")
        text = +""
      end
    end
    lines = percent ? str.lines : nil
    scan = lambda do |s|
      pos = 0
      line_start = true
      while (i = s.index(/<%%|<%[-=#]?/, pos))
        tok = $&
        before = s[pos...i]
        if tok == "<%%"
          put.(before + "<%")
          pos = i + 3
          next
        end
        if tok == "<%-" && m != "-"
          tok = "<%"
        end
        at_line_start = before.empty? ? (pos == 0 || s[pos - 1] == "\n") : before.end_with?("\n")
        if tok == "<%-"
          # Ruby's scanner takes the end of a tag for the start of a line.
          before = before.sub(/[ \t]*\z/, "") if before =~ /(\A|\n)[ \t]*\z/
        end
        put.(before)
        j = i + tok.size
        k = s.index(/%%>|-?%>/, j)
        body = +""
        loop do
          raise SyntaxError, "unterminated ERB tag" unless k
          if s[k, 3] == "%%>"
            body << s[j...k] << "%>"
            j = k + 3
            k = s.index(/%%>|-?%>/, j)
          else
            break
          end
        end
        close = s[k] == "-" ? "-%>" : "%>"
        if close == "-%>" && m != "-"
          body << s[j...k] << "-"
          close = "%>"
          k += 1
          fin = k + 2
        else
          body << s[j...k]
          fin = k + close.size
        end
        emit.()
        case tok
        when "<%=" then src << "#{@out}.<<((#{body}).to_s); "
        when "<%#" then src << "\n" * body.count("\n")
        else src << body << "\n" * 0 << (body =~ /#[^\n]*\z/ || body.end_with?("\n") ? "\n" : "; ")
        end
        pos = fin
        if s[pos] == "\n" && (close == "-%>" || m == ">" || (m == "<>" && at_line_start))
          src << "\n"
          pos += 1
        elsif s[pos, 2] == "\r\n" && (close == "-%>" || m == ">" || (m == "<>" && at_line_start))
          pos += 2
        end
      end
      put.(s[pos..] || "")
    end
    if percent
      buf = +""
      lines.each do |l|
        if l.start_with?("%%") && buf !~ /<%(?!%)(?:(?!%>).)*\z/m then buf << l[1..]
        elsif l.start_with?("%") && buf.scan(/<%(?!%)/).size == buf.scan(/%>/).size
          scan.(buf)
          buf = +""
          emit.()
          src << l[1..].chomp << "\n"
        else buf << l
        end
      end
      scan.(buf)
    else
      scan.(str)
    end
    emit.()
    src << @out
    src
  end
  def dump(t) = '"' + t.gsub(/["\\]/) { "\\#{$&}" }.gsub(/#(?=[{$@])/, '\\#').gsub("\n", '\\n').gsub("\r", '\\r') + '"'
end
