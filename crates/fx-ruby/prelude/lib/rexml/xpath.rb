# The paths that policies ask by.
require "rexml/document"

module REXML
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
        step = scanner.scan(/(?:@?(?:[\w\-.]+:)?(?:[\w\-.]+|\*)(?:::(?:[\w\-.:]+|\*))?(?:\(\))?|\.\.?)/) or
          raise ParseException, "unsupported path #{path.inspect}"
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

    def self.named_?(element, name)
      name.include?(":") ? element.expanded_name == name : element.expanded_name == name || element.name == name
    end

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
end
