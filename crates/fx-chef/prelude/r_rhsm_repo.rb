# rhsm_repo: a repository of a Red Hat subscription.
class Chef
  class Provider
    class RhsmRepo < FxComposite
      def on?
        new_resource.repo_name == "*" ||
          fx_look("subscription-manager", "repos", "--list-enabled", environment: { "LANG" => "en_US" }).stdout
          .match?(/Repo ID:\s+#{Regexp.escape(new_resource.repo_name)}$/)
      end
      def turn(flag, guard)
        name = new_resource.repo_name
        me = self
        declare_resource(:execute, "Enable repository #{name}") do
          command "subscription-manager repos --#{flag}=#{name}"
          self.fx_words = ["subscription-manager", "repos", "--#{flag}=#{name}"]
          send(guard) { me.on? }
        end
      end
      action(:enable) { turn("enable", :not_if) }
      action(:disable) { turn("disable", :only_if) }
    end
  end
end
