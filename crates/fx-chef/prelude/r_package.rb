# package and its platform forms: versions now, versions to be had, and the tool's commands.
require "shellwords"
class Chef
  class Resource
    class Package
      def initialize(name, *args)
        @package_name = name.is_a?(Array) ? name : name.to_s unless name.nil?
        super(name.is_a?(Array) ? name : name, *args)
      end
      property :options, [String, Array], coerce: proc { |x| x.is_a?(String) ? x.shellsplit : x }
      def self.fx_package_name!
        define_method(:initialize) do |name, *args|
          super(name, *args)
        end
      end
    end
  end

  class Provider
    # One idea for every tool: names, wanted versions, what is there, what could be. The tools
    # themselves are known to the mechanism; `manager` names the one, `settings` are what the
    # resource says beside names.
    class Package < Chef::Provider
      def manager = raise(Chef::Exceptions::UnsupportedAction, "#{self} has no package manager")
      def settings = { options: options }
      def installed(n) = FX.package_versions(manager, settings, n).first
      def candidate(n)
        @candidates ||= {}
        @candidates.fetch(n) { @candidates[n] = FX.package_candidate(manager, settings, n) }
      end
      def act(verb, names, versions = nil, sources = nil)
        FX.package_commands(manager, settings, verb, names, versions, sources).each do |given, words|
          tool(words, environment: env.merge(given.to_h))
        end
      end
      def install(names, versions) = act(:install, names, versions)
      def remove(names) = act(:remove, names)
      # Tools that can keep a package at its version.
      module Holding
        def locked?(n) = FX.package_held?(manager, settings, n)
        def lock(names) = act(:lock, names)
        def unlock(names) = act(:unlock, names)
      end

      # Answers to what Debian's packages ask when they are installed.
      module Answers
        def prepare(todo)
          return unless new_resource.response_file
          names, versions = todo.transpose
          names, versions = names[0], versions[0] unless new_resource.package_name.is_a?(Array)
          file = answers(names, versions) or return
          fx_change("preseed package #{names}", of_each([names].flatten, :answers, "old", "new")) { answer(file) }
        end
        # They are asked again only if there are other answers.
        def action_reconfig
          name = new_resource.package_name
          return unless new_resource.response_file && @now.values.any?
          file = answers(name, name.is_a?(Array) ? @now.values : @now.values.first) or return
          fx_change("reconfigure package #{name}", of_each(@names, :configured, true, "reconfigured")) do
            answer(file)
            noninteractive("dpkg-reconfigure", *@names)
          end
        end
        def answer(file) = noninteractive("debconf-set-selections", file)
        def noninteractive(*words) = tool(words, environment: { "DEBIAN_FRONTEND" => "noninteractive" }.merge(env))
        # The file of the answers, as long as it is a new one.
        def answers(names, versions)
          r = new_resource
          place = "#{Chef::FileCache.create_cache_path("preseed/#{r.cookbook_name}")}/#{names}-#{versions}.seed"
          if run_context.has_template_in_cookbook?(r.cookbook_name, r.response_file)
            file = Chef::Resource::Template.new(place, run_context)
            file.variables(r.response_file_variables)
          elsif run_context.has_cookbook_file_in_cookbook?(r.cookbook_name, r.response_file)
            file = Chef::Resource::CookbookFile.new(place, run_context)
          else
            raise Chef::Exceptions::FileNotFound,
              "No template or cookbook file found for response file #{r.response_file}"
          end
          file.cookbook_name = r.cookbook_name
          file.source(r.response_file)
          file.backup(false)
          file.run_action(:create)
          file.path if file.updated_by_last_action?
        end
      end

      def load_current_resource
        @names = Array(new_resource.package_name)
        v = new_resource.version
        @versions = v.is_a?(Array) ? v : [v] * @names.size
        @now = @names.to_h { |n| [n, installed(n)] }
      end
      def options = new_resource.options ? Array(new_resource.options) : []
      def timeout = new_resource.timeout || 900
      def env = new_resource.respond_to?(:environment) && new_resource.environment || {}
      def tool(*args, environment: env, **kw)
        shell_out!(*args.flatten.compact, timeout: timeout.to_i, environment: environment, **kw)
      end
      def each_wanted
        @names.each_with_index { |n, i| yield n, @versions[i] }
      end
      def shown(n, v) = "version #{v || candidate(n) || "latest"} of package #{n}"

      # Whether the repositories offer what is to be installed; why-run takes that for granted.
      def offered(todo)
        return if trusts_names?
        missing = todo.map(&:first).select { |n| candidate(n).nil? }
        return if missing.empty?
        forced = missing.select { |n| @now[n] }
        text = forced.empty? ? "No candidate version available for #{missing.join(", ")}" :
          "No version specified, and no candidate version available for #{forced.join(", ")}"
        fx_unmet(Chef::Exceptions::Package, text) unless whyrun_mode?
        FX.requirement([text, "Assuming a repository that offers #{missing.join(", ")} would have been configured"])
        todo.reject! { |n, _| missing.include?(n) }
      end

      def action_install
        todo = []
        each_wanted do |n, v|
          next if @now[n] && (v.nil? || matches?(@now[n], v))
          todo << [n, v || candidate(n)]
        end
        return if todo.empty?
        offered(todo)
        prepare(todo)
        fx_change(todo.map { |n, c| "install version #{c} of package #{n}" }, versions_to(todo)) do
          multi? ? install(todo.map(&:first), todo.map(&:last)) : todo.each { |n, c| install([n], [c]) }
        end
      end
      def action_upgrade
        todo = []
        each_wanted do |n, v|
          c = v || candidate(n)
          next if @now[n] && (c.nil? || c == @now[n])
          todo << [n, c]
        end
        return if todo.empty?
        offered(todo)
        # What has no such property may be set back.
        back = new_resource.respond_to?(:allow_downgrade) ? new_resource.allow_downgrade : true
        word = back ? "upgrade(allow_downgrade)" : "upgrade"
        fx_change(todo.map { |n, c| "#{word} package #{n} from #{@now[n] || "uninstalled"} to #{c}" },
          versions_to(todo)) do
          multi? ? upgrade(todo.map(&:first), todo.map(&:last)) : todo.each { |n, c| upgrade([n], [c]) }
        end
      end
      # All that the resource names, with its version; where there is none, purging leaves a blank.
      def described(blank = "")
        version = new_resource.version
        "#{version ? "version #{version} of " : blank}package #{new_resource.package_name}"
      end
      def action_remove
        todo = @names.each_with_index
          .select { |n, i| @now[n] && (@versions[i].nil? || matches?(@now[n], @versions[i])) }.map(&:first)
        return if todo.empty?
        fx_change("remove #{described}", versions_to(todo.map { |n| [n, "absent"] })) { remove(todo) }
      end
      def action_purge
        todo = @names.select { |n| @now[n] || leftovers?(n) }
        return if todo.empty?
        fx_change("purge #{described(" ")}", versions_to(todo.map { |n| [n, "purged"] })) { purge(todo) }
      end
      def action_lock
        todo = @names.reject { |n| locked?(n) }
        unless todo.empty?
          fx_change("lock #{described}", of_each(todo, :locked, false, true)) { lock(todo) }
        end
      end
      def action_unlock
        todo = @names.select { |n| locked?(n) }
        unless todo.empty?
          fx_change("unlock #{described}", of_each(todo, :locked, true, false)) { unlock(todo) }
        end
      end
      def action_reconfig = raise(Chef::Exceptions::UnsupportedAction, "#{self} does not support :reconfig")
      def of_each(names, property, from, to) = names.map { |n| [:package, n, property, from, to] }
      # Changes of versions; what the repositories choose is not known beforehand.
      def versions_to(todo) = todo.map { |n, v| [:package, n, :version, @now[n] || "absent", v || "latest"] }
      def matches?(have, want) = have == want || have.start_with?("#{want}-")
      def leftovers?(_n) = false
      def prepare(_todo) = nil
      def multi? = true
      def trusts_names? = false
      def upgrade(names, versions) = install(names, versions)
      def purge(names) = remove(names)
      %i{locked? lock unlock}.each do |m|
        define_method(m) { |*| raise Chef::Exceptions::UnsupportedAction, "#{self} does not support :#{m}" }
      end
    end
  end
end
