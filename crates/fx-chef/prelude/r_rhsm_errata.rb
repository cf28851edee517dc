# rhsm_errata: packages of one advisory.
class Chef
  class Provider
    class RhsmErrata < FxComposite
      action(:install) do
        id = new_resource.errata_id
        tool = node["platform_version"].to_i >= 8 ? "dnf" : "yum"
        declare_resource(:execute, "Install errata packages for #{id}") do
          command "#{tool} update --advisory #{id} -y"
          self.fx_words = [tool, "update", "--advisory", id, "-y"]
        end
      end
    end
  end
end
