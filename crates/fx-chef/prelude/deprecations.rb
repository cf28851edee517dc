# Pages of the original's documentation about what is deprecated.
class Chef
  class Deprecated
    PAGES = { internal_api: 0, attributes: 4, custom_resource: "custom_resource_cleanups", verify_file: 7,
      supports_property: 8, property_name_collision: 11, package_misc: 15,
      multiresource_match: 16, use_inline_resources: 17, namespace_collisions: 19, property: 24, shell_out: 26,
      locale_lc_all: 27, chef_sugar: 28, archive_file_integer_file_mode: 30,
      resource_name_without_provides: 31, unified_mode: 33, policyfile_compat_mode: 35 }.freeze
    # The page of the original's documentation about a kind.
    def self.fx_url(type)
      page = PAGES[type.to_sym]
      return "https://docs.chef.io/chef_deprecations_client/" if type.to_sym == :generic
      page && "https://docs.chef.io/deprecations_#{page.is_a?(Integer) ? type : page}/"
    end
  end
end
