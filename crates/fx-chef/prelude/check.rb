# What a check finds in recipes that do not compile, and in the collection of those that do. Loaded where
# findings are wanted.
class Chef
  module FxCheck
    class << self
      # Where the policy's own code is in a trace, as file:line.
      def place(e)
        asked = Chef::FxMissing.place(e)
        return asked if asked
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
        else !Chef::FxMissing.of(e).nil? && (Chef::FxMissing.place(e) || !data_bags?)
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
          when Chef::Resource::Template then template(run_context, r) unless r.local || r.fx_content
          when Chef::Resource::CookbookFile then file(run_context, r, :files)
          when Chef::Resource::RemoteDirectory then directory(run_context, r)
          end
          required(r)
          block(r)
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
        subscriptions(run_context)
      end

      private

      # What resources wait for and nothing declares, which nobody ever hears of.
      def subscriptions(run_context)
        all = run_context.resource_collection.flat_map { |r| [r.to_s, r.declared_key] }.uniq
        known = all.reject { |n| n.include?(" ") }.join(" ")
        noted = %i{before immediate delayed}.map { |timing| run_context.send(:"#{timing}_notification_collection") }
        noted.flat_map(&:values).flatten.select(&:subscribed).each do |n|
          name = n.notifying_resource.declared_key
          near = !all.include?(name) && n.resource.is_a?(Chef::Resource) && FX.nearest(name, known) or next
          text = "#{n.resource} subscribes to '#{name}', which is not declared"
          FX.finding("chef-missing-resource", text, n.resource.source_line, "did you mean '#{near}'?")
        end
      end

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

      # Properties that an action needs and nobody set.
      def required(r)
        missing = r.class.properties.values.find do |p|
          Array(r.action).any? { |a| a != :nothing && p.required?(a) } && !p.is_set?(r) && !p.name_property?
        end
        text = "#{r} needs a value for '#{missing.name}'" if missing
        FX.finding("chef-required", text, r.source_line, nil) if missing
      end

      # What the lines of a resource's block say that is hardly meant: a property that becomes a
      # variable, since it is assigned, and a mode in decimal digits.
      def block(r)
        file, start = r.source_line.to_s[/\A(.+?):\d+/, 1], r.source_line.to_s[/\A.+?:(\d+)/, 1].to_i
        return unless file && FX.file?(file)
        lines = ::File.read(file).lines.drop(start - 1)
        return unless lines.first.to_s.match?(/\bdo\s*\z/)
        indent = lines.first[/\A\s*/]
        lines = lines.drop(1).take_while { |l| !l.start_with?("#{indent}end") }
        lines.each_with_index do |line, at|
          place = "#{file}:#{start + at + 1}"
          if (name = line[/\A\s+(\w+)\s*=[^=~>]/, 1]) && settable?(r, name) && lines.grep(/\b#{name}\b/).size == 1
            text = "'#{name}' is a variable here, which nothing reads"
            FX.finding("chef-assignment", text, place, "leave out the '=' to set the property of #{r}")
          elsif (mode = line[/\A\s+mode\s+([1-7][0-7]{2,3})\s*(#.*)?\z/, 1])
            text = "the mode #{mode} is a decimal number, which is 0#{mode.to_i.to_s(8)}"
            FX.finding("chef-mode", text, place, "write '0#{mode}'")
          end
        end
      end

      def settable?(r, name)
        %w{action only_if not_if notifies subscribes}.include?(name) || r.class.properties.key?(name.to_sym)
      end

      # A template that is not there, or that names a variable which is almost one that it gets.
      def template(run_context, r)
        found = file(run_context, r, :templates) or return
        given = r.variables.keys.map(&:to_s)
        return if given.empty? || !FX.file?(found)
        ::File.read(found).lines.each_with_index do |line, at|
          (line.scan(/@(\w+)/).flatten - given - %w{node cookbook_name recipe_name template_name}).each do |name|
            near = FX.meant(name, given.join(" ")) or next
            text = "nobody gives the variable '@#{name}' to this template"
            FX.finding("chef-template-variable", text, "#{found}:#{at + 1}", "did you mean '@#{near}'?")
          end
        end
      end

      # The file of a cookbook that a resource names.
      def file(run_context, r, segment)
        return if r.source.is_a?(Chef::DelayedEvaluator) || r.source_line.nil?
        book = run_context.cookbook_collection[(r.cookbook || r.cookbook_name).to_s] or return
        found = Array(r.source).filter_map { |s| book.send(:find_file, segment, s, run_context.node) }.first
        return found if found
        what = segment == :templates ? "template" : "file"
        FX.finding("chef-missing-file", "cookbook '#{book.name}' has no #{what} '#{Array(r.source).first}'",
          r.source_line, nil)
      end

      # The directory of a cookbook that a resource copies.
      def directory(run_context, r)
        book = run_context.cookbook_collection[(r.cookbook || r.cookbook_name).to_s] or return
        return if book.directory_listing(r.source, run_context.node)
        FX.finding("chef-missing-file", "cookbook '#{book.name}' has no directory '#{r.source}'", r.source_line, nil)
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
