# REXML: documents as a tree.
# Schemas, DTD entities beyond the five of XML, and stream parsing are not here.
require "strscan"

module REXML
  autoload :XPath, "rexml/xpath"
  autoload :Formatters, "rexml/formatters"

  class ParseException < RuntimeError; end
  class UndefinedNamespaceException < ParseException; end

  ENTITIES_ = { "lt" => "<", "gt" => ">", "amp" => "&", "quot" => '"', "apos" => "'" }.freeze

  def self.unescape_(text)
    text.gsub(/&(#x\h+|#\d+|\w+);/) do
      name = $1
      if name.start_with?("#x") then [name[2..].hex].pack("U")
      elsif name.start_with?("#") then [name[1..].to_i].pack("U")
      else ENTITIES_.fetch(name, "&#{name};")
      end
    end
  end

  def self.escape_(text)
    text.gsub(/&(?!#?\w+;)/, "&amp;").gsub("<", "&lt;").gsub(">", "&gt;").gsub('"', "&quot;").gsub("'", "&apos;")
  end

  module Node
    attr_accessor :parent
    def document = parent&.document
    def remove = parent&.delete(self)
    def next_sibling_node = parent && parent.children[parent.children.index(self) + 1]
    def previous_sibling_node
      at = parent ? parent.children.index(self) : 0
      at.positive? ? parent.children[at - 1] : nil
    end
    alias next_sibling next_sibling_node
    alias previous_sibling previous_sibling_node
    def write(output = $stdout, indent = -1, *)
      formatter = indent.is_a?(Integer) && indent >= 0 ? Formatters::Pretty.new(indent) : Formatters::Default.new
      formatter.write(self, output)
    end
    def to_s(*)
      out = +""
      Formatters::Default.new.write(self, out)
      out
    end
  end

  class Text
    include Node
    def initialize(value, _whitespace = true, parent = nil, raw = nil)
      @string = raw ? value : REXML.escape_(value.to_s).gsub("&quot;", '"').gsub("&apos;", "'")
      parent << self if parent.is_a?(Element)
    end
    def value = REXML.unescape_(@string)
    def value=(text)
      @string = REXML.escape_(text.to_s)
    end
    def to_s(*) = @string
    def node_type = :text
    def empty? = @string.empty?
    def <=>(other) = to_s <=> other.to_s
    def inspect = @string.inspect
    def clone = Text.new(@string, true, nil, true)
  end

  class CData < Text
    def initialize(value, *) = @string = value
    def value = @string
    def clone = CData.new(@string)
  end

  class Comment
    include Node
    attr_accessor :string
    def initialize(string) = @string = string
    def node_type = :comment
    def clone = Comment.new(@string)
  end

  class Instruction
    include Node
    attr_accessor :target, :content
    def initialize(target, content = nil) = (@target, @content = target, content)
    def node_type = :processing_instruction
  end

  class DocType
    include Node
    attr_reader :name
    def initialize(text) = (@text, @name = text, text[/\S+/])
    def source_ = @text
    def node_type = :doctype
  end

  class XMLDecl
    include Node
    attr_accessor :version, :encoding, :standalone
    def initialize(version = "1.0", encoding = nil, standalone = nil)
      @version, @encoding, @standalone = version, encoding, standalone
    end
    def self.default = new
    def node_type = :xmldecl
    def source_
      "<?xml version='#{@version}'#{" encoding='#{@encoding}'" if @encoding}" \
        "#{" standalone='#{@standalone}'" if @standalone}?>"
    end
  end

  class Attribute
    include Node
    attr_accessor :name, :element
    def initialize(name, value = "", element = nil) = (@name, @value, @element = name, value.to_s, element)
    def value = @value
    alias expanded_name name
    def prefix = @name.include?(":") ? @name.split(":").first : ""
    def node_type = :attribute
    def to_s(*) = REXML.escape_(@value).gsub("&apos;", "'")
    def to_string = "#{@name}='#{REXML.escape_(@value)}'"
    def ==(other) = other.is_a?(Attribute) && name == other.name && value == other.value
    def inspect = to_string
    def remove = element.attributes.delete(@name)
  end

  class Attributes < Hash
    def initialize(element)
      super()
      @element = element
    end
    def [](name) = get_attribute(name)&.value
    def []=(name, value)
      return delete(name) if value.nil?
      store(name.to_s, value.is_a?(Attribute) ? value : Attribute.new(name.to_s, value, @element))
    end
    def get_attribute(name) = fetch(name.to_s, nil)
    def each(&block) = values.each { |a| block.call(a.expanded_name, a.value) }
    def each_attribute(&block) = values.each(&block)
    def map(&block) = values.map { |a| block.call(a.expanded_name, a.value) }
    def to_a = values
    def add(attribute) = store(attribute.name, attribute)
    alias << add
    def delete(name) = super(name.is_a?(Attribute) ? name.name : name.to_s)
    def length = size
    def get_attribute_ns(_namespace, name) = values.find { |a| a.name.split(":").last == name }
  end

  # The elements among an element's children, counted from one.
  class Elements
    include Enumerable
    attr_reader :parent
    def initialize(parent) = @parent = parent
    def list_ = @parent.children.grep(Element)
    def [](index, name = nil)
      return (name ? list_.select { |e| e.has_name?(name) } : list_)[index - 1] if index.is_a?(Integer)
      XPath.match(@parent, index).find { |node| node.is_a?(Element) }
    end
    def []=(index, element)
      old = self[index]
      old ? @parent.replace_child(old, element) : @parent << element
    end
    def each(xpath = nil, &block)
      found = to_a(xpath)
      return found.each unless block
      found.each(&block)
    end
    def to_a(xpath = nil) = xpath ? XPath.match(@parent, xpath).grep(Element) : list_
    def collect(xpath = nil, &block) = to_a(xpath).map(&block)
    alias map collect
    def inject(xpath = nil, initial = nil, &block)
      xpath.is_a?(String) ? to_a(xpath).inject(initial, &block) : to_a.inject(xpath, &block)
    end
    def size = list_.size
    alias count size
    def empty? = list_.empty?
    def index(element) = (list_.index(element) || -2) + 1
    def add(element = nil)
      element = Element.new(element.to_s) unless element.is_a?(Element)
      @parent << element
      element
    end
    alias << add
    def delete(what)
      node = what.is_a?(Element) ? what : self[what]
      node && @parent.delete(node)
      node
    end
    def delete_all(xpath) = to_a(xpath).each(&:remove)
  end

  class Element
    include Node
    include Enumerable
    attr_accessor :name, :context
    attr_reader :children, :attributes, :elements

    def initialize(name = "UNDEFINED", parent = nil, context = nil)
      @name = name.is_a?(Element) ? name.name : name
      @children = []
      @attributes = Attributes.new(self)
      @elements = Elements.new(self)
      @context = context
      name.attributes.each_attribute { |a| add_attribute(a.name, a.value) } if name.is_a?(Element)
      parent << self if parent
    end

    def node_type = :element
    def expanded_name = @name
    def name = @name.split(":").last
    def prefix = @name.include?(":") ? @name.split(":").first : ""
    def has_name?(name) = @name == name || self.name == name
    def namespace(prefix = self.prefix)
      key = prefix.to_s.empty? ? "xmlns" : "xmlns:#{prefix}"
      attributes[key] || (parent.is_a?(Element) && !parent.is_a?(Document) ? parent.namespace(prefix) : "")
    end
    def add_namespace(prefix, uri = nil) = uri ? attributes["xmlns:#{prefix}"] = uri : attributes["xmlns"] = prefix
    def root = parent.is_a?(Element) && !parent.is_a?(Document) ? parent.root : self
    def document = parent&.document
    def root_node = document || root

    def add(node)
      node.parent&.delete(node)
      node.parent = self
      @children << node
      node
    end
    def <<(node)
      add(node)
      self
    end
    alias push add
    def delete(node)
      found = @children.find { |child| child.equal?(node) }
      @children.reject! { |child| child.equal?(node) }
      found.parent = nil if found
      found
    end
    def replace_child(old, new)
      at = @children.index(old)
      @children[at] = new
      new.parent = self
    end
    def insert_before(mark, node) = insert_(mark, node, 0)
    def insert_after(mark, node) = insert_(mark, node, 1)
    def insert_(mark, node, by)
      mark = elements[mark] if mark.is_a?(String)
      node.parent = self
      @children.insert(@children.index(mark) + by, node)
      self
    end
    def each(&block) = @children.each(&block)
    alias each_child each
    def to_a = @children.dup
    def size = @children.size
    def [](index) = index.is_a?(Integer) ? @children[index] : attributes[index.to_s]

    def add_element(element, attributes = nil)
      element = Element.new(element) unless element.is_a?(Element)
      add(element)
      (attributes || {}).each { |key, value| element.attributes[key] = value }
      element
    end
    def delete_element(what) = elements.delete(what)
    def has_elements? = !elements.empty?
    def each_element(xpath = nil, &block) = elements.each(xpath, &block)
    def each_element_with_attribute(key, value = nil, *, &block)
      elements.list_.select { |e| value ? e.attributes[key] == value : e.attributes.key?(key) }.each(&block)
    end
    def get_elements(xpath) = elements.to_a(xpath)
    def next_element = following_(:next_sibling_node)
    def previous_element = following_(:previous_sibling_node)
    def following_(step)
      node = __send__(step)
      node = node.__send__(step) until node.nil? || node.is_a?(Element)
      node
    end

    def add_attribute(key, value = nil)
      key.is_a?(Attribute) ? attributes.add(key) : attributes[key] = value
    end
    def add_attributes(pairs) = pairs.each { |key, value| add_attribute(key, value) }
    def delete_attribute(key) = attributes.delete(key)
    def attribute(name, _namespace = nil) = attributes.get_attribute(name)
    def has_attributes? = !attributes.empty?

    def text(path = nil)
      node = path ? elements[path] : self
      node&.get_text&.value
    end
    def get_text(path = nil) = (path ? elements[path] : self)&.children&.find { |child| child.is_a?(Text) }
    def text=(value)
      old = get_text
      if value.nil?
        old&.remove
      else
        node = value.is_a?(Text) ? value : Text.new(value.to_s)
        old ? replace_child(old, node) : @children.unshift(node)
        node.parent = self
      end
      self
    end
    def add_text(value)
      last = @children.last
      return add(value.is_a?(Text) ? value : Text.new(value.to_s)) unless last.instance_of?(Text) && !value.is_a?(Text)
      last.value = last.value + value
    end
    def has_text? = !get_text.nil?
    def texts = @children.grep(Text)
    def cdatas = @children.grep(CData)
    def comments = @children.grep(Comment)
    def instructions = @children.grep(Instruction)
    def clone = Element.new(self)
    def deep_clone
      copy = Element.new(self)
      @children.each { |child| copy << (child.is_a?(Element) ? child.deep_clone : child.clone) }
      copy
    end

    def xpath
      same = parent.is_a?(Element) ? parent.elements.list_.select { |e| e.expanded_name == @name } : [self]
      place = same.size > 1 ? "[#{same.index { |e| e.equal?(self) } + 1}]" : ""
      (parent.is_a?(Document) || parent.nil? ? "" : parent.xpath) + "/#{@name}#{place}"
    end
    def inspect
      "<#{@name}#{attributes.each_attribute.map { |a| " #{a.to_string}" }.join}#{@children.empty? ? "/" : "> ... </"}>"
    end
  end

  class Document < Element
    def initialize(source = nil, context = {})
      super("UNDEFINED", nil, context)
      return if source.nil?
      if source.is_a?(Document)
        return source.children.each { |child| add(child.is_a?(Element) ? child.deep_clone : child) }
      end
      Reader_.new(source.respond_to?(:read) ? source.read : source.to_s).read_into(self)
    end
    def node_type = :document
    def document = self
    def root = elements.list_.first
    def name = ""
    def expanded_name = ""
    def add_element(element = nil, attributes = nil)
      raise "attempted adding second root element to document" if root
      super
    end
    def xml_decl = @children.grep(XMLDecl).first || XMLDecl.new
    def doctype = @children.grep(DocType).first
    def version = xml_decl.version
    def encoding = xml_decl.encoding || "UTF-8"
    def clone = Document.new(self)
  end

  # Text to tree.
  class Reader_
    NAME = /[\w:][\w:.\-]*/

    def initialize(text) = @in = StringScanner.new(text)

    def read_into(document)
      open = [document]
      until @in.eos?
        if @in.scan(/<\?xml\s+(.*?)\?>/m)
          pairs = attributes_of(@in[1])
          open.last << XMLDecl.new(pairs["version"] || "1.0", pairs["encoding"], pairs["standalone"])
        elsif @in.scan(/<\?(\S+)\s*(.*?)\?>/m) then open.last << Instruction.new(@in[1], @in[2])
        elsif @in.scan(/<!--(.*?)-->/m) then open.last << Comment.new(@in[1])
        elsif @in.scan(/<!\[CDATA\[(.*?)\]\]>/m) then open.last << CData.new(@in[1])
        elsif @in.scan(/<!DOCTYPE\s+([^\[>]*(?:\[.*?\]\s*)?)>/m) then open.last << DocType.new(@in[1])
        elsif @in.scan(%r{</(#{NAME})\s*>})
          last = open.pop
          raise fail_("Unexpected end tag '#{@in[1]}'") if open.empty?
          raise fail_("Missing end tag for '#{last.expanded_name}' (got '#{@in[1]}')") if last.expanded_name != @in[1]
        elsif @in.scan(%r{<(#{NAME})((?:\s+#{NAME}\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(/?)>}m)
          name, pairs, closed = @in[1], @in[2], @in[3]
          if open.size == 1 && document.root
            raise fail_("Malformed XML: Extra tag at the end of the document (got '<#{name}')")
          end
          element = Element.new(name)
          attributes_of(pairs).each { |key, value| element.attributes[key] = value }
          open.last << element
          open << element if closed.empty?
        elsif @in.check(/</) then raise fail_("malformed XML: missing tag start")
        else
          text = @in.scan(/[^<]+/)
          open.last << Text.new(text, true, nil, true) unless open.size == 1 && text.strip.empty? && text == ""
        end
      end
      raise fail_("Missing end tag for '#{open.last.expanded_name}'") if open.size > 1
    end

    private

    def attributes_of(text)
      text.scan(/(#{NAME})\s*=\s*(?:"([^"]*)"|'([^']*)')/).to_h do |name, double, single|
        [name, REXML.unescape_(double || single)]
      end
    end

    def fail_(message)
      ParseException.new("#{message}\nLine: #{@in.string[0, @in.pos].count("\n") + 1}\nPosition: #{@in.pos}")
    end
  end

  # Location paths: steps by name, `*`, `.`, `..`, `//`, `@name`, `text()`, and predicates by
  # place, attribute, child and text.
end
