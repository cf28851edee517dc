# Ripper as libraries use it: the tree of a text and its tokens. The parser is prism; tree and tokens have the
# form of CRuby 3.1's.
class Ripper
  Version = "0.1.0"

  class << self
    def sexp(source, filename = "-", lineno = 1, raise_errors: false)
      source = __text(source)
      tree = __tree(source)
      raise SyntaxError, "#{filename}:#{lineno}: the text is no program" if tree.nil? && raise_errors
      __move(tree, lineno - 1) if tree && lineno != 1
      tree
    end

    def lex(source, _filename = "-", lineno = 1, **)
      __lex(__text(source)).each do |token|
        token[0][0] += lineno - 1
        token[3] = Lexer::State.new(token[3])
      end
    end

    def tokenize(source, *, **) = __lex(__text(source)).map { |token| token[2] }

    def sexp_raw(*, **) = raise(NotImplementedError, "Ripper.sexp_raw is not there; Ripper.sexp is")

    private

    def __text(source) = source.respond_to?(:to_str) ? source.to_str : source.read

    def __move(part, by)
      if part.size == 2 && part.all?(Integer) then part[0] += by
      else part.each { |inner| __move(inner, by) if inner.is_a?(Array) }
      end
    end
  end

  class Lexer
    # What may come next, as bits with names.
    class State
      NAMES = %w[BEG END ENDARG ENDFN ARG CMDARG MID FNAME DOT CLASS LABEL LABELED FITEM].freeze
      private_constant :NAMES
      attr_reader :to_int, :to_s

      def initialize(bits)
        @to_int = bits
        @to_s = NAMES.each_index.filter_map { |at| NAMES[at] if bits[at] == 1 }.join("|")
        @to_s = "EXPR_NONE" if bits.zero?
        freeze
      end

      def [](key) = { 0 => @to_int, :to_int => @to_int, 1 => @to_s, :to_s => @to_s }[key]
      alias to_i to_int
      alias inspect to_s
      def pretty_print(q) = q.text(to_s)
      def ==(other) = super || to_int == other
      def &(other) = self.class.new(to_int & other.to_int)
      def |(other) = self.class.new(to_int | other.to_int)
      def allbits?(bits) = to_int.allbits?(bits)
      def anybits?(bits) = to_int.anybits?(bits)
      def nobits?(bits) = to_int.nobits?(bits)
    end

    class << self
      def lex(...) = Ripper.lex(...)
      def tokenize(...) = Ripper.tokenize(...)
    end
  end

  %w[BEG END ENDARG ENDFN ARG CMDARG MID FNAME DOT CLASS LABEL LABELED FITEM].each_with_index do |name, at|
    const_set(:"EXPR_#{name}", 1 << at)
  end
  EXPR_VALUE = EXPR_BEG
  EXPR_BEG_ANY = EXPR_BEG | EXPR_MID | EXPR_CLASS
  EXPR_ARG_ANY = EXPR_ARG | EXPR_CMDARG
  EXPR_END_ANY = EXPR_END | EXPR_ENDARG | EXPR_ENDFN
end
