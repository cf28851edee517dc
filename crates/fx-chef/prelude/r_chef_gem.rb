# chef_gem: gems for the client's own Ruby, which has none.
class Chef
  class Resource
    class ChefGem
      property :compile_time, [true, false], default: false, desired_state: false
    end
  end
  class Provider
    class ChefGem < Chef::Provider
      def load_current_resource = nil
      %i{install upgrade remove purge}.each do |a|
        define_method(:"action_#{a}") do
          Chef::Log.warn("#{new_resource}: the runtime is built in and takes no gems; #{a} does nothing")
        end
      end
    end
  end
end
