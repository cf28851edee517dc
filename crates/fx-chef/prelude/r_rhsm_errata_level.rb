# rhsm_errata_level: packages of all advisories of a severity.
class Chef
  class Resource
    class RhsmErrataLevel
      property :errata_level, String, name_property: true, equal_to: %w{critical moderate important low},
        coerce: proc { |v|
        v.downcase
      }
    end
  end
  class Provider
    class RhsmErrataLevel < FxComposite
      action(:install) do
        level = new_resource.errata_level
        tool = node["platform_version"].to_i >= 8 ? "dnf" : "yum"
        declare_resource(:execute, "Install any #{level} errata") do
          command "#{tool} update --sec-severity=#{level.capitalize} -y"
          self.fx_words = [tool, "update", "--sec-severity=#{level.capitalize}", "-y"]
        end
      end
    end
  end
end
