# subversion: a working copy, through the svn command.
require "shellwords"
class Chef
  class Resource
    class Subversion
      def after_created
        (@destination || @name).then { |d| FX.declared(to_s, d, source_line, true) if d.is_a?(String) }
      end
      property :svn_arguments, [String, nil, FalseClass], coerce: proc { |v| v == false ? nil : v },
        default: "--no-auth-cache"
      property :svn_info_args, [String, nil, FalseClass], coerce: proc { |v| v == false ? nil : v },
        default: "--no-auth-cache"
    end
  end
  class Provider
    class Subversion < Chef::Provider
      def svn = new_resource.svn_binary || "svn"
      def login
        r = new_resource
        [*(r.svn_username ? ["--username", r.svn_username] : []),
          *(r.svn_password ? ["--password-from-stdin", "--non-interactive"] : [])]
      end
      # Among the words of a command everybody would see it.
      def secret = new_resource.svn_password ? { input: "#{new_resource.svn_password}\n" } : {}
      def words(text) = text.to_s.shellsplit
      def run(*args)
        r = new_resource
        opts = { timeout: r.timeout, user: r.user, group: r.group, environment: r.environment, cwd: nil }.compact
        shell_out!(svn, *args, **opts, **secret)
      end
      def about(property, from, to) = fx_about(:subversion, new_resource.destination, property => [from, to])
      def info(where)
        fx_look(svn, "info", where, *login, *words(new_resource.svn_info_args), "-r#{new_resource.revision}", **secret)
          .stdout.to_s[/^Last Changed Rev: (\d+)$/, 1]
      end
      def empty? = !::File.exist?(new_resource.destination) || ::Dir.children(new_resource.destination).empty?
      def load_current_resource
        parent = ::File.dirname(new_resource.destination)
        unless ::File.directory?(parent) || whyrun_mode?
          raise Chef::Exceptions::MissingParentDirectory,
            "Cannot clone #{new_resource} to #{new_resource.destination}, the enclosing directory #{parent} does not " \
            "exist"
        end
        out = ::File.exist?("#{new_resource.destination}/.svn") ?
          fx_look(svn, "info", new_resource.destination).stdout.to_s : ""
        @now = out[/^Revision: (\d+)$/, 1]
      end
      def wanted
        new_resource.revision.to_s.match?(/\A\d+\z/) ? new_resource.revision.to_s : info(new_resource.repository)
      end
      def command(verb, *more)
        [verb, "-q", *login, *words(new_resource.svn_arguments), "-r#{wanted}", *more, new_resource.repository,
          new_resource.destination]
      end
      def action_checkout
        if empty?
          fx_change("perform checkout of #{new_resource.repository} into #{new_resource.destination}",
            about(:checkout, @now, new_resource.repository)) do
            run(*command("checkout"))
          end
        end
      end
      def action_export
        if empty?
          fx_change("perform export of #{new_resource.repository} into #{new_resource.destination}",
            about(:export, nil, new_resource.repository)) do
            run(*command("export"))
          end
        end
      end
      def action_force_export
        fx_change("export #{new_resource.repository} into #{new_resource.destination}",
          about(:export, nil, new_resource.repository)) do
          run(*command("export", "--force"))
        end
      end
      def action_sync
        return action_checkout unless @now
        want = wanted
        return if want.nil? || want == @now
        fx_change("sync #{new_resource.destination} from #{new_resource.repository}", about(:revision, @now, want)) do
          run("update", "-q", *login, *words(new_resource.svn_arguments), "-r#{want}", new_resource.destination)
        end
      end
    end
  end
end
