# A tree as text: as it was, or indented.
require "rexml/document"

module REXML
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
