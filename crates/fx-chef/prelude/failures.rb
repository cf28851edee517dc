# What a failure is reported with: headings and texts for people, in the original's words.
class Chef
  module FxFailures
    ADVICE = "You might be able to resolve this issue with:\n  1-) Removing cookbook versions that depend on " \
      "deleted cookbooks.\n  2-) Removing unused cookbook versions.\n  3-) Pinning exact cookbook versions using " \
      "environments.\n".freeze
    class << self
      # An action of a resource that failed.
      def resource(resource, e)
        out = [[e.class.name, e.message]]
        trace = in_cookbooks(e)
        out << ["Cookbook Trace: (most recent call first)", trace.join("\n")] unless trace.empty?
        if resource.source_line
          out << ["Resource Declaration:",
            resource.fx_secret? ? "suppressed sensitive resource output" : declaration(resource)]
        end
        out << ["Compiled Resource:", resource.to_text.to_s]
        if e.respond_to?(:source_listing) && !resource.fx_secret?
          out << ["Template Context:", "#{e.source_location}\n#{e.source_listing}"]
        end
        out << system_info
      end

      # A file that could not be loaded.
      def file(e)
        out = [[e.class.name, e.message]]
        trace = in_cookbooks(e)
        unless trace.empty?
          out << ["Cookbook Trace: (most recent call first)", trace.map { |l| "  #{l}" }.join("\n")]
          out << ["Relevant File Content:", around(trace.first)]
        end
        out << system_info
      end

      def roles(expansion, node)
        missing = expansion.missing_roles_with_including_role.map { |role, by| "* #{role} included by '#{by}'" }
          .join("\n")
        [["Missing Role(s) in Run List:", missing], ["Original Run List", list(node.run_list)], system_info]
      end

      def cookbooks(recipes, absent, unmet, message)
        text = +""
        text << absent.map { |n| "No such cookbook: #{n}" }.join("\n") unless absent.empty?
        unless unmet.empty?
          text << "The following cookbooks exist on the server, but there is no version that meets\nthe version " \
            "constraints in this environment:\n" << unmet.map { |n| "* #{n}\n" }.join << "\n"
        end
        out = [["Missing Cookbooks:", text]]
        if text.empty?
          out = [["Cookbook dependency resolution error:", "Error message: #{message}\n#{ADVICE}"]]
        end
        out << ["Expanded Run List:", list(recipes)] << system_info
      end

      def system_info
        info = ["chef_version=#{Chef::VERSION}"]
        if (node = Client.fx_node || Chef.node)
          info << "platform=#{node["platform"]}" << "platform_version=#{node["platform_version"]}"
        end
        info << "ruby=#{RUBY_DESCRIPTION}" << "program_name=#{$PROGRAM_NAME}"
        ["System Info:", info.join("\n")]
      end

      private

      def list(items) = items.map { |i| "* #{i}" }.join("\n")

      def in_cookbooks(e)
        dirs = Array(Chef::Config[:cookbook_path])
        lines = (e.backtrace || []).select { |l| dirs.any? { |d| l.start_with?(d) } }
        lines.map do |l|
          l.gsub(/<(main|top \(required\))>|compile_action_\w+/,
            l.match?(%r{/(resources|providers)/}) ? "class_from_file" : "from_file")
        end
      end

      def numbered(i, line) = "#{(i + 1).to_s.rjust(3)}: #{line}"

      # The lines of a declaration, by counting what opens and ends blocks.
      def declaration(resource)
        file = resource.source_line_file
        return "" unless FX.file?(file)
        lines = FX.shown_lines(::File.read(file)).lines
        first = resource.source_line_number.to_i
        at = [first - 1, 0].max
        out = +"# In #{file}\n\n"
        depth = 0
        while lines[at]
          depth += 1 if lines[at].match?(/\s+do\s*/)
          depth -= 1 if lines[at].match?(/end\s*$/)
          out << numbered(at, lines[at])
          break if lines[at + 1].nil? || at >= first + 50 || depth <= 0
          at += 1
        end
        out << numbered(at + 1, lines[at + 1]) if lines[at + 1] && !secret_at?(resource, file, at + 2)
        out
      end

      # Whether a sensitive resource is declared there.
      def secret_at?(resource, file, line)
        resource.run_context.resource_collection.any? do |r|
          r.source_line_number.to_i == line && r.source_line_file == file && r.fx_secret?
        end
      end

      def around(place)
        file, line = place[/\A(.+?):\d+/, 1], place[/\A.+?:(\d+)/, 1].to_i
        lines = FX.shown_lines(::File.read(file)).lines
        out = +"#{file}:\n\n"
        ([line - 8, 0].max..[line + 8, lines.size].min).each do |i|
          out << "#{(i + 1).to_s.rjust(3)}#{i + 1 == line ? ">> " : ":  "}#{lines[i]}"
        end
        out
      end
    end
  end
end
