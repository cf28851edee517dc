# What a check finds in recipes that do not compile, and in the collection of those that do. Loaded where
# findings are wanted.
class Chef
  module FxCheck
    class << self
      # Where the policy's own code is in a trace, as file:line.
      def place(e)
        lines = e.backtrace || []
        lines = [e.message] + lines if e.is_a?(SyntaxError)
        # A call with other arguments than the method takes is noticed in the method.
        lines = lines.drop(1) if e.is_a?(ArgumentError) && definition?(lines.first.to_s)
        lines.each do |l|
          at = l[%r{\A/.+?:\d+}]
          return at if at && FX.file?(at[/\A(.+):\d+\z/, 1])
        end
        nil
      end

      # Whether something that the policy needs is not here, which is no mistake in it.
      def missing?(e, help)
        case e
        when Chef::Exceptions::CookbookNotFound then help.nil?
        when LoadError, Chef::Exceptions::NoSuchResourceType, Mixlib::ShellOut::ShellCommandFailed then true
        when NameError then help.nil? && elsewhere?(e.name.to_s)
        when RuntimeError then e.instance_of?(RuntimeError) && refuses?(e)
        else !Chef::FxMissing.of(e).nil? && !data_bags?
        end
      end

      def help(e)
        near = near(e)
        near && "did you mean '#{near}'?"
      end

      # What the compiled resources need and the cookbooks do not have.
      def collection(run_context)
        run_context.resource_collection.each do |r|
          case r
          when Chef::Resource::Template then file(run_context, r, :templates) unless r.local || r.fx_content
          when Chef::Resource::CookbookFile then file(run_context, r, :files)
          end
          r.resolve_notification_references
        rescue Chef::Exceptions::ResourceNotFound => e
          # Another recipe may declare it; a name that is almost one of these is the one.
          text = e.message.lines.first.to_s.strip
          known = run_context.resource_collection.map(&:to_s).reject { |n| n.include?(" ") }.join(" ")
          near = text.scan(/\w+\[[^\] ]+\]/).filter_map { |n| FX.nearest(n, known) unless known.include?(n) }.first
          FX.finding("chef-missing-resource", text, r.source_line, "did you mean '#{near}'?") if near
        rescue StandardError
          nil
        end
      end

      private

      # Whether a line raises under a condition: it refuses this machine, not every one.
      def refuses?(e)
        at = place(e) or return false
        lines = ::File.read(at[/\A(.+):\d+\z/, 1]).lines
        line = lines[at[/\d+\z/].to_i - 1].to_s
        line.match?(/\A\s+/) || line.match?(/\s(if|unless)\s/)
      end

      # Whether a cookbook that this one does not depend on has the name.
      def elsewhere?(name)
        Array(Chef::Config[:cookbook_path]).any? do |dir|
          ::Dir.glob("#{dir}/*/{libraries,resources}/**/*.rb").any? do |file|
            text = ::File.read(file)
            text.match?(/def (self\.)?#{Regexp.escape(name)}\b|(provides|resource_name) :#{Regexp.escape(name)}\b/) ||
              file[%r{/(\w+/resources/\w+)\.rb\z}, 1].to_s.sub("/resources/", "_") == name
          end
        end
      end

      def definition?(place)
        file, line = place[/\A(.+?):\d+/, 1], place[/\A.+?:(\d+)/, 1].to_i
        file && FX.file?(file) && ::File.read(file).lines[line - 1].to_s.match?(/\A\s*def\s/)
      end

      def data_bags?
        dirs = Array(Chef::Config[:data_bag_path])
        dirs.any? { |d| ::File.directory?(d.to_s) }
      end

      def file(run_context, r, segment)
        return if r.source.is_a?(Chef::DelayedEvaluator) || r.source_line.nil?
        book = run_context.cookbook_collection[(r.cookbook || r.cookbook_name).to_s]
        return if book.nil? || Array(r.source).any? { |s| book.send(:find_file, segment, s, run_context.node) }
        what = segment == :templates ? "template" : "file"
        FX.finding("chef-missing-file", "cookbook '#{book.name}' has no #{what} '#{Array(r.source).first}'",
          r.source_line, nil)
      end

      def near(e)
        case e
        when Chef::Exceptions::CookbookNotFound then nil
        when NameError then FX.meant(e.name.to_s, known(e))
        end
      end

      def known(e)
        to = e.receiver
        names = to.is_a?(Module) ? to.constants : to.methods
        names += to.class.properties.keys if to.is_a?(Chef::Resource)
        names += FX.resource_names.split if to.is_a?(Chef::Recipe)
        names.join(" ")
      rescue ArgumentError
        FX.resource_names
      end
    end
  end
end
