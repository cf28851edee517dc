# git: a working copy at a revision.
class Chef
  class Resource
    class Git
      def after_created
        (@destination || @name).then { |d| FX.declared(to_s, d, source_line, true) if d.is_a?(String) }
      end
    end
  end
  class Provider
    class Git < Chef::Provider
      def load_current_resource
        @dir = new_resource.destination
        @now = ::File.exist?("#{@dir}/.git") ? fx_look("git", "rev-parse", "HEAD", **opts(@dir)).stdout.strip : nil
      end
      def opts(cwd)
        r = new_resource
        o = { timeout: r.timeout || 600 }
        o[:cwd] = cwd if cwd
        o[:user] = r.user if r.user
        o[:group] = r.group if r.group
        env = (r.environment || {}).dup
        env["GIT_SSH"] = r.ssh_wrapper if r.ssh_wrapper
        env["HOME"] ||= ::Dir.home(r.user) if r.user
        o[:environment] = env unless env.empty?
        o
      end
      def git(*args, cwd: nil) = shell_out!("git", *args, **opts(cwd))
      def about(property, from, to) = fx_about(:git, @dir, property => [from, to])
      # What begins with a dash is no option.
      def plain(word) = word.start_with?("-") ? ["--", word] : [word]
      def target
        @target ||= begin
          rev = new_resource.revision
          if rev.match?(/\A\h{40}\z/) then rev
          else
            out = fx_look!("git", "ls-remote", *plain(new_resource.repository), "#{rev}*", **opts(nil)).stdout.lines
              .map do |l|
              l.split("\t")
            end
            find = ->(n) { out.find { |_, ref| ref&.strip == n }&.first }
            sha = rev == "HEAD" ? find.call("HEAD") : find.call("refs/tags/#{rev}^{}") ||
              find.call("refs/tags/#{rev}") || find.call("refs/heads/#{rev}") || find.call(rev)
            unless sha
              fx_unmet(Chef::Exceptions::UnresolvableGitReference,
                "Unable to parse SHA reference for '#{rev}' in repository '#{new_resource.repository}'. Verify your " \
                "(case-sensitive) repository URL and revision.")
            end
            sha
          end
        end
      end
      def action_checkout
        return if @now
        unless ::File.directory?(::File.dirname(@dir)) || whyrun_mode?
          fx_unmet(Chef::Exceptions::MissingParentDirectory,
            "Cannot clone #{new_resource} to #{@dir}, the enclosing directory #{::File.dirname(@dir)} does not exist")
        end
        r = new_resource
        fx_change("clone from #{r.repository} into #{@dir}", about(:repository, nil, r.repository)) do
          args = ["clone"]
          args.push("-o", r.remote) unless r.remote == "origin"
          args.push("--depth", r.depth.to_s) if r.depth
          git(*args, *plain(r.repository), @dir)
        end
        fx_change("checkout ref #{target} branch #{r.revision}", about(:revision, nil, target)) do
          git("branch", "-f", r.checkout_branch || "deploy", target, cwd: @dir)
          git("checkout", r.checkout_branch || "deploy", cwd: @dir)
        end if r.enable_checkout
        submodules
      end
      def submodules
        return unless new_resource.enable_submodules
        fx_change("enable git submodules for #{new_resource}", about(:submodules, nil, "enabled")) do
          git("submodule", "sync", cwd: @dir)
          git("submodule", "update", "--init", "--recursive", cwd: @dir)
        end
      end
      def action_sync
        return action_checkout unless @now
        return if @now == target
        r = new_resource
        fx_change("fetch updates for #{r.remote}", about(:revision, @now, target)) do
          git("fetch", "--prune", r.remote, cwd: @dir)
          git("fetch", r.remote, "--tags", cwd: @dir)
          git("reset", "--hard", target, cwd: @dir)
        end
        submodules
      end
      def action_export
        action_checkout
        fx_change("complete the export by removing #{@dir}.git after checkout",
          fx_about(:file, "#{@dir}/.git", ensure: %w{directory absent})) do
          require "fileutils"
          FileUtils.rm_r("#{@dir}/.git")
        end
      end
    end
  end
end
