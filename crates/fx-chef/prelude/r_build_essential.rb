# build_essential: what is needed to compile programs, by platform family.
class Chef
  class Provider
    class BuildEssential < FxComposite
      PACKAGES = {
        "debian" => %w{autoconf binutils-doc bison build-essential flex gettext ncurses-dev},
        "fedora" => %w{autoconf bison flex gcc gcc-c++ gettext kernel-devel make m4 ncurses-devel patch},
        "suse" => %w{autoconf bison flex gcc gcc-c++ kernel-default-devel make m4},
      }.freeze
      action(:install) do
        family = node["platform_family"]
        list = PACKAGES[%w{rhel amazon}.include?(family) ? "fedora" : family]
        if list
          declare_resource(:package, list)
        else
          text = "        The build_essential resource does not currently support the '#{family}'\n        platform " \
            "family. Skipping...\n"
          raise text if new_resource.raise_if_unsupported
          Chef::Log.warn text
        end
      end
      action(:upgrade) do
        Chef::Log.info "The build_essential resource :upgrade action is only supported on macOS systems. Skipping..."
      end
    end
  end
end
