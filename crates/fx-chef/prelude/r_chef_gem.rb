# chef_gem: gems of pure Ruby for recipes and libraries, from where they lie on this machine.
class Chef
  class Resource
    class ChefGem
      property :compile_time, [true, false], default: false, desired_state: false
    end
  end
  class Provider
    class ChefGem < Chef::Provider
      def load_current_resource
        r = new_resource
        @source = r.source.is_a?(String) ? r.source : nil
        @names = Array(r.package_name)
        @versions = Array(r.version)
      end

      def action_install
        r = new_resource
        @names.each_with_index do |name, i|
          next if FxGems.active.key?(name)
          name = ::File.basename(name)[/\A(.+)-\d/, 1] if name.end_with?(".gem")
          gem = FxGems.find(name, @versions[i], @source || (r.package_name if r.package_name.to_s.end_with?(".gem")))
          unless gem
            Chef::Log.warn("#{r}: the runtime is built in and takes gems of this machine only; there is no #{name}" \
              "#{" #{@versions[i]}" if @versions[i]} in #{[@source, *FxGems.roots].compact.join(", ")}")
            next
          end
          FxGems.activate(gem) do |one, &unpack|
            fx_change("unpack gem #{one}", fx_about(:gem, one.name, version: ["absent", one.version]), &unpack)
          end
        end
      end
      alias action_upgrade action_install
      alias action_reconfig action_install

      %i{remove purge}.each do |a|
        define_method(:"action_#{a}") do
          Chef::Log.warn("#{new_resource}: gems of this machine are used where they lie; #{a} does nothing")
        end
      end
    end
  end
end
