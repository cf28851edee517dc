# What test libraries ask of Ripper: whether a text parses, and its tokens. The tree has no more than its root:
# who looks for an expression of a line in it finds none.
class Ripper
  Version = "0.1.0"
  KEYWORDS = %w[
    __ENCODING__ __LINE__ __FILE__ BEGIN END alias and begin break case class def defined? do else elsif end ensure
    false for if in module next nil not or redo rescue retry return self super then true undef unless until when while
    yield
  ].freeze
  SIGNS = { "(" => :on_lparen, ")" => :on_rparen, "[" => :on_lbracket, "]" => :on_rbracket, "{" => :on_lbrace,
            "}" => :on_rbrace, "," => :on_comma, ";" => :on_semicolon, "." => :on_period, "&." => :on_op,
            "`" => :on_backtick }.freeze
  OPERATORS = Regexp.union(
    *%w[**= <=> === ... <<= >>= &&= ||= ** == != =~ !~ >= <= && || << >> .. -> => ::],
    %r{[-+*/%&|^]=|[-+*/%&|^<>=!~?:]}
  )
  # After these a slash divides and a percent sign is an operator.
  VALUES = %i[
    on_ident on_const on_ivar on_gvar on_cvar on_int on_float on_rparen on_rbracket on_rbrace on_tstring_end
    on_regexp_end
  ].freeze
  PAIRS = { "(" => ")", "[" => "]", "{" => "}", "<" => ">" }.freeze
  private_constant :KEYWORDS, :SIGNS, :OPERATORS, :VALUES, :PAIRS

  class << self
    def sexp(source, *, raise_errors: false) = __parses?(source.to_str) ? [:program, [[:void_stmt]]] : nil
    alias sexp_raw sexp
    def tokenize(source, *) = lex(source).map { |token| token[2] }

    # Tokens with their places. A literal text is its opening mark, its content and its closing mark.
    def lex(source, *)
      require "strscan"
      @scanner, @line, @column, @tokens, @value = StringScanner.new(source.to_str), 1, 0, [], false
      take until @scanner.eos?
      @tokens
    end

    private

    def add(type, text)
      @tokens << [[@line, @column], type, text, nil]
      lines = text.count("\n")
      @column = lines.zero? ? @column + text.bytesize : text.bytesize - text.rindex("\n") - 1
      @line += lines
      return if type == :on_sp
      @value = VALUES.include?(type) || (type == :on_kw && %w[end self true false nil].include?(text))
    end

    def take
      s = @scanner
      if (t = s.scan(/\n/)) then add(@value ? :on_nl : :on_ignored_nl, t)
      elsif (t = s.scan(/=begin\b.*?^=end\b[^\n]*\n?/m)) && @column.zero? then add(:on_embdoc, t)
      elsif (t = s.scan(/[ \t\r\f\v]+|\\\n/)) then add(:on_sp, t)
      elsif (t = s.scan(/#[^\n]*\n?/)) then add(:on_comment, t)
      elsif (t = s.scan(/@@\w+/)) then add(:on_cvar, t)
      elsif (t = s.scan(/@\w+/)) then add(:on_ivar, t)
      elsif (t = s.scan(/\$(?:\w+|[^\w\s])/)) then add(:on_gvar, t)
      elsif (t = s.scan(/[A-Za-z_]\w*[?!]?:(?!:)/)) then add(:on_label, t)
      elsif (t = s.scan(/\d[\d_]*\.\d[\d_]*(?:[eE][-+]?\d+)?/)) then add(:on_float, t)
      elsif (t = s.scan(/0[xXbBoO][\h_]+|\d[\d_]*/)) then add(:on_int, t)
      elsif (t = s.scan(/[[:alpha:]_]\w*[?!]?(?!=[^=~>])|[[:alpha:]_]\w*/)) then word(t)
      elsif (t = s.scan(/"|'/)) then literal(:on_tstring, t, t)
      elsif !@value && (t = s.scan(%r{/})) then literal(:on_regexp, t, t)
      elsif !@value && (t = s.scan(/%[qQwWiIrx]?[^\w\s]/))
        literal(t[1] == "r" ? :on_regexp : :on_tstring, t, PAIRS[t[-1]] || t[-1])
      elsif (t = s.scan(/:(?=["'\w])/)) then add(:on_symbeg, t)
      elsif (t = s.scan(/&\.|[(){}\[\],;.`]/)) then add(SIGNS[t], t)
      elsif (t = s.scan(OPERATORS)) then add(t == "->" ? :on_tlambda : :on_op, t)
      else add(:on_CHAR, s.getch)
      end
    end

    def word(text)
      after_dot = @tokens.last && @tokens.last[2] == "."
      return add(:on_kw, text) if !after_dot && KEYWORDS.include?(text)
      add(text.match?(/\A[[:upper:]]/) ? :on_const : :on_ident, text)
    end

    def literal(type, opening, closing)
      add(:"#{type}_beg", opening)
      content = @scanner.scan(/(?:\\.|(?!#{Regexp.escape(closing)}).)+/m)
      add(:on_tstring_content, content) if content
      ending = @scanner.scan(type == :on_regexp ? /#{Regexp.escape(closing)}[imxounse]*/ : /#{Regexp.escape(closing)}/)
      add(:"#{type}_end", ending) if ending
    end
  end
end
