# PP: values laid out over lines when one line is too short, and the printer that objects'
# own `pretty_print` methods draw on.
class PrettyPrint
  # Text, a place to break, or a group of both that breaks as a whole.
  Break_ = Struct.new(:text, :indent)
  Group_ = Struct.new(:parts)

  def self.format(output = +"", maxwidth = 79, newline = "\n", genspace = nil)
    q = new(output, maxwidth, newline)
    yield q
    q.flush
    output
  end

  def self.singleline_format(output = +"", _maxwidth = nil, _newline = nil, _genspace = nil)
    q = new(output, Float::INFINITY)
    yield q
    q.flush
    output
  end

  attr_reader :output, :maxwidth, :newline, :indent

  def initialize(output = +"", maxwidth = 79, newline = "\n")
    @output, @maxwidth, @newline = output, maxwidth, newline
    @indent = 0
    @root = Group_.new([])
    @open = [@root]
  end

  def text(string, _width = nil) = @open.last.parts << string.to_s
  def breakable(sep = " ", _width = nil) = @open.last.parts << Break_.new(sep, @indent)
  def fill_breakable(sep = " ", width = nil) = group { breakable(sep, width) }
  def current_group = @open.last

  def break_outmost_groups = nil

  def nest(by)
    @indent += by
    yield
  ensure
    @indent -= by
  end

  def group(indent = 0, open = "", close = "", _open_width = nil, _close_width = nil)
    group = Group_.new([])
    @open.last.parts << group
    @open << group
    text(open) unless open.empty?
    nest(indent) { yield }
    text(close) unless close.empty?
  ensure
    @open.pop
  end

  def flush
    column = 0
    # What is still to be written, the next thing last: [part, whether its group is broken].
    todo = @root.parts.reverse.map { |part| [part, true] }
    until todo.empty?
      part, broken = todo.pop
      case part
      when Group_
        fits = fits?(part, todo, @maxwidth - column)
        part.parts.reverse_each { |inner| todo << [inner, !fits] }
      when Break_
        if broken
          @output << @newline << " " * part.indent
          column = part.indent
        else
          @output << part.text
          column += part.text.size
        end
      else
        @output << part
        column += part.size
      end
    end
    @root = Group_.new([])
    @open = [@root]
  end

  private

  # Whether a group and what follows it up to the next line break go into the room left.
  def fits?(group, todo, room)
    ahead = group.parts.reverse.map { |part| [part, false] }
    later = todo.size
    loop do
      if ahead.empty?
        return true if later.zero?
        later -= 1
        ahead << todo[later]
      end
      part, broken = ahead.pop
      case part
      when Group_ then part.parts.reverse_each { |inner| ahead << [inner, broken] }
      when Break_
        return true if broken
        room -= part.text.size
      else room -= part.size
      end
      return false if room.negative?
    end
  end
end

class PP < PrettyPrint
  def self.pp(obj, out = $stdout, width = width_for(out))
    out << format(+"", width) { |q| q.pp(obj) } << "\n"
    out
  end

  def self.width_for(_out) = 79

  def self.singleline_pp(obj, out = $stdout)
    out << singleline_format(+"") { |q| q.pp(obj) }
    out
  end

  def pp(obj)
    @seen ||= []
    if @seen.any? { |other| other.equal?(obj) }
      group { obj.pretty_print_cycle(self) }
    else
      begin
        @seen.push(obj)
        group { obj.pretty_print(self) }
      ensure
        @seen.pop
      end
    end
  end

  def comma_breakable
    text(",")
    breakable
  end

  def seplist(list, sep = nil, method = :each)
    sep ||= -> { comma_breakable }
    first = true
    list.__send__(method) do |*item|
      first ? first = false : sep.call
      yield(*item)
    end
  end

  def object_address_group(obj, &block) = group(1, obj.to_s.chomp(">"), ">", &block)
  def object_group(obj, &block) = group(1, "#<#{obj.class.name}", ">", &block)

  def pp_object(obj)
    object_address_group(obj) do
      seplist(obj.pretty_print_instance_variables, -> { text(",") }) do |name|
        breakable
        text(name.to_s)
        text("=")
        group(1) do
          breakable("")
          pp(obj.instance_variable_get(name))
        end
      end
    end
  end

  def pp_hash(hash)
    group(1, "{", "}") do
      seplist(hash, nil, :each_pair) do |key, value|
        group do
          pp(key)
          text("=>")
          group(1) do
            breakable("")
            pp(value)
          end
        end
      end
    end
  end
end

class Object
  def pretty_print(q)
    own = method(:inspect)
    if own.owner != Kernel
      q.text(inspect)
    elsif instance_variables.empty?
      q.text(Kernel.instance_method(:inspect).bind_call(self))
    else
      q.pp_object(self)
    end
  end

  def pretty_print_cycle(q) = q.object_address_group(self) { q.breakable; q.text("...") }
  def pretty_print_instance_variables = instance_variables.sort
  def pretty_print_inspect = PP.singleline_pp(self, +"")
  def pretty_inspect = PP.pp(self, +"")
end

class Array
  def pretty_print(q) = q.group(1, "[", "]") { q.seplist(self) { |value| q.pp(value) } }
  def pretty_print_cycle(q) = q.text(empty? ? "[]" : "[...]")
end

class Hash
  def pretty_print(q) = q.pp_hash(self)
  def pretty_print_cycle(q) = q.text(empty? ? "{}" : "{...}")
end

class Struct
  def pretty_print(q)
    q.group(1, "#<struct #{self.class}", ">") do
      q.seplist(members, -> { q.text(",") }) do |member|
        q.breakable
        q.text(member.to_s)
        q.text("=")
        q.group(1) do
          q.breakable("")
          q.pp(self[member])
        end
      end
    end
  end
  def pretty_print_cycle(q) = q.text("#<struct #{self.class}:...>")
end

class Range
  def pretty_print(q)
    q.pp(self.begin)
    q.breakable("")
    q.text(exclude_end? ? "..." : "..")
    q.breakable("")
    q.pp(self.end) if self.end
  end
end

module Kernel
  def pp(*objects)
    objects.each { |obj| PP.pp(obj) }
    objects.size <= 1 ? objects.first : objects
  end
end
