# selinux_module: a module of policy of one's own, compiled and loaded.
class Chef
  class Provider
    class SelinuxModule < FxComposite
      def at(type) = "#{::File.join(new_resource.base_dir, new_resource.module_name)}.#{type}"
      def loaded?
        fx_look!("semodule", "--list-modules").stdout.lines.any? { |l| l.split[0] == new_resource.module_name }
      end
      action(:create) do
        r = new_resource
        compile = "Compiling SELinux modules at '#{r.base_dir}'"
        install = "Install SELinux module '#{at("pp")}'"
        package = at("pp")
        declare_resource(:directory, r.base_dir)
        declare_resource(:execute, install) do
          command "semodule --install '#{package}'"
          self.fx_words = ["semodule", "--install", package]
          action :nothing
        end
        declare_resource(:execute, compile) do
          cwd r.base_dir
          command "make -C #{r.base_dir} -f /usr/share/selinux/devel/Makefile"
          self.fx_words = ["make", "-C", r.base_dir, "-f", "/usr/share/selinux/devel/Makefile"]
          timeout 120
          user "root"
          action :nothing
          notifies :run, "execute[#{install}]", :immediately
        end
        declare_resource(r.property_is_set?(:content) ? :file : :cookbook_file, at("te")) do
          if r.property_is_set?(:content)
            content r.content
          else
            cookbook r.cookbook if r.cookbook
            source r.source
          end
          mode "0600"
          owner "root"
          group "root"
          notifies :run, "execute[#{compile}]", :immediately
        end
      end
      action(:delete) do
        %w{fc if pp te}.each do |type|
          path = at(type)
          declare_resource(:file, path) { action :delete } if ::File.exist?(path)
        end
      end
      action(:install) do
        unless ::File.exist?(at("pp"))
          raise "Module must be compiled before it can be installed, no 'pp' file found at: '#{at("pp")}'"
        end
        unless loaded?
          fx_change("Install SELinux module #{at("pp")}",
            fx_about(:selinux_module, new_resource.module_name, loaded: [false, true])) do
            shell_out!("semodule", "--install", at("pp"))
          end
        end
      end
      action(:remove) do
        if loaded?
          fx_change("Remove SELinux module #{new_resource.module_name}",
            fx_about(:selinux_module, new_resource.module_name, loaded: [true, false])) do
            shell_out!("semodule", "--remove", new_resource.module_name)
          end
        end
      end
    end
  end
end
