# REXML: documents as a tree, the paths that policies ask by, and both formatters.
# Schemas, DTD entities beyond the five of XML, and stream parsing are not here.
require "strscan"

module REXML
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

  def self.escape_(text) = text.gsub(/&(?!#?\w+;)/, "&amp;").gsub("<", "&lt;").gsub(">", "&gt;").gsub('"', "&quot;").gsub("'", "&apos;")

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
    def initialize(version = "1.0", encoding = nil, standalone = nil) = (@version, @encoding, @standalone = version, encoding, standalone)
    def self.default = new
    def node_type = :xmldecl
    def source_ = "<?xml version='#{@version}'#{" encoding='#{@encoding}'" if @encoding}#{" standalone='#{@standalone}'" if @standalone}?>"
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
    def each_element_with_attribute(key, value = nil, *, &block) = elements.list_.select { |e| value ? e.attributes[key] == value : e.attributes.key?(key) }.each(&block)
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
    def inspect = "<#{@name}#{attributes.each_attribute.map { |a| " #{a.to_string}" }.join}#{@children.empty? ? "/" : "> ... </"}>"
  end

  class Document < Element
    def initialize(source = nil, context = {})
      super("UNDEFINED", nil, context)
      return if source.nil?
      return source.children.each { |child| add(child.is_a?(Element) ? child.deep_clone : child) } if source.is_a?(Document)
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
          raise fail_("Malformed XML: Extra tag at the end of the document (got '<#{name}')") if open.size == 1 && document.root
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
      text.scan(/(#{NAME})\s*=\s*(?:"([^"]*)"|'([^']*)')/).to_h { |name, double, single| [name, REXML.unescape_(double || single)] }
    end

    def fail_(message) = ParseException.new("#{message}\nLine: #{@in.string[0, @in.pos].count("\n") + 1}\nPosition: #{@in.pos}")
  end

  # Location paths: steps by name, `*`, `.`, `..`, `//`, `@name`, `text()`, and predicates by
  # place, attribute, child and text.
  module XPath
    def self.match(node, path = nil, _namespaces = nil, _variables = nil, *)
      path = path.to_s
      path.split(/\|(?![^\[]*\])/).flat_map { |part| walk(node, part.strip) }
    end
    def self.first(node, path = nil, *rest) = match(node, path, *rest).first
    def self.each(node, path = nil, *rest, &block) = match(node, path, *rest).each(&block)

    def self.walk(node, path)
      nodes = [node]
      if path.start_with?("/")
        nodes = [node.document || top_(node)]
      end
      scanner = StringScanner.new(path)
      until scanner.eos?
        deep = scanner.skip(%r{//}) ? true : (scanner.skip(%r{/}); false)
        break if scanner.eos?
        step = scanner.scan(/(?:@?(?:[\w\-.]+:)?(?:[\w\-.]+|\*)(?:::(?:[\w\-.:]+|\*))?(?:\(\))?|\.\.?)/) or raise ParseException, "unsupported path #{path.inspect}"
        predicates = []
        predicates << scanner[1] while scanner.scan(/\[((?:[^\[\]"']|"[^"]*"|'[^']*'|\[[^\]]*\])*)\]/)
        nodes = nodes.flat_map { |n| deep ? [n] + below_(n) : [n] }.flat_map do |from|
          predicates.inject(step_(from, step)) { |found, predicate| filter_(found, predicate) }
        end
        nodes = nodes.uniq(&:object_id)
      end
      nodes
    end

    def self.top_(node)
      node = node.parent while node.parent
      node
    end

    def self.below_(node) = node.is_a?(Element) ? node.elements.list_.flat_map { |e| [e] + below_(e) } : []

    def self.step_(from, step)
      step = step.sub(/\Achild::/, "").sub(/\Aattribute::/, "@")
      case step
      when "." then [from]
      when "..", "parent::*" then [from.parent].compact
      when "text()" then from.is_a?(Element) ? from.texts : []
      when "node()" then from.is_a?(Element) ? from.children : []
      when "comment()" then from.is_a?(Element) ? from.comments : []
      when "*" then from.is_a?(Element) ? from.elements.list_ : []
      when "@*" then from.is_a?(Element) ? from.attributes.to_a : []
      when /\A@(.*)/ then from.is_a?(Element) ? [from.attributes.get_attribute($1)].compact : []
      when /\Adescendant(?:-or-self)?::(.*)/ then below_(from).select { |e| $1 == "*" || named_?(e, $1) }
      when /\Aself::(.*)/ then [from].select { |e| $1 == "*" || named_?(e, $1) }
      when /\(\)|::/ then raise ParseException, "unsupported path step #{step.inspect}"
      else from.is_a?(Element) ? from.elements.list_.select { |e| named_?(e, step) } : []
      end
    end

    def self.named_?(element, name) = name.include?(":") ? element.expanded_name == name : element.expanded_name == name || element.name == name

    def self.filter_(nodes, predicate)
      predicate = predicate.strip
      case predicate
      when /\A\d+\z/ then [nodes[predicate.to_i - 1]].compact
      when "last()" then nodes.last(1)
      else nodes.select { |node| holds_?(node, predicate) }
      end
    end

    def self.holds_?(node, predicate)
      return predicate.split(/\s+or\s+/).any? { |part| holds_?(node, part) } if predicate =~ /\s+or\s+/
      return predicate.split(/\s+and\s+/).all? { |part| holds_?(node, part) } if predicate =~ /\s+and\s+/
      case predicate
      when /\Anot\((.*)\)\z/ then !holds_?(node, $1)
      when /\A(contains|starts-with)\(\s*(.+?)\s*,\s*(["'])(.*?)\3\s*\)\z/
        kind, path, wanted = $1, $2, $4
        values_(node, path).any? { |v| kind == "contains" ? v.include?(wanted) : v.start_with?(wanted) }
      when /\A(.+?)\s*(!?=)\s*(?:(["'])(.*?)\3|(\d+))\z/
        path, operator, wanted = $1, $2, $4 || $5
        values_(node, path).any? { |v| operator == "=" ? v == wanted : v != wanted }
      else !walk(node, predicate).empty?
      end
    end

    def self.values_(node, path)
      return [node.name] if path =~ /\A(local-)?name\(\)\z/
      path = "." if path == "text()" && node.is_a?(Text)
      walk(node, path).map { |found| found.is_a?(Element) ? found.texts.map(&:value).join : found.value }
    end
  end

  module Formatters
    class Default
      def initialize(ie_hack = false) = @ie_hack = ie_hack
      def write(node, output)
        case node
        when Document then node.children.each { |child| write(child, output) }
        when Element then write_element(node, output)
        when CData then output << "<![CDATA[#{node.value}]]>"
        when Text then output << node.to_s
        when Comment then output << "<!--#{node.string}-->"
        when Instruction then output << "<?#{node.target} #{node.content}?>"
        when DocType then output << "<!DOCTYPE #{node.source_}>"
        when XMLDecl then output << node.source_
        when Attribute then output << node.to_s
        end
        output
      end

      private

      def opening(node) = "<#{node.expanded_name}" + node.attributes.to_a.map { |a| " #{a.to_string}" }.join

      def write_element(node, output)
        output << opening(node)
        return output << (@ie_hack ? " />" : "/>") if node.children.empty?
        output << ">"
        node.children.each { |child| write(child, output) }
        output << "</#{node.expanded_name}>"
      end
    end

    class Pretty < Default
      attr_accessor :compact, :width
      def initialize(indentation = 2, ie_hack = false)
        super(ie_hack)
        @step, @level, @width, @compact = indentation, 0, 80, false
      end

      def write(node, output)
        case node
        when Document
          first = true
          node.children.each do |child|
            next if child.instance_of?(Text) && child.value.strip.empty?
            output << "\n" unless first
            first = false
            write(child, output)
          end
        when CData, Comment, Instruction
          output << " " * @level
          super
        when Text then output << " " * @level << node.to_s.strip.squeeze(" ")
        else super
        end
        output
      end

      private

      def write_element(node, output)
        output << " " * @level << opening(node)
        kept = node.children.reject { |child| child.instance_of?(Text) && child.value.strip.empty? }
        return output << "/>" if kept.empty?
        output << ">"
        text = kept.map(&:to_s).join.strip
        if @compact && kept.all? { |child| child.instance_of?(Text) } && @level + text.size < @width
          output << text
        else
          @level += @step
          kept.each do |child|
            output << "\n"
            write(child, output)
          end
          @level -= @step
          output << "\n" << " " * @level
        end
        output << "</#{node.expanded_name}>"
      end
    end

    class Transitive < Default; end
  end
end
