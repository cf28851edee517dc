# chef_client_cron: runs the client by cron.
class Chef
  class Resource
    class ChefClientCron
      property :splay, [Integer, String], default: 300, coerce: proc { |x| Integer(x) }
      property :nice, [Integer, String], coerce: proc { |x| Integer(x) }
      property :log_directory, String, default: lazy { "/var/log/chef" }
    end
  end
  class Provider
    class ChefClientCron < FxComposite
      def line
        r = new_resource
        seed = node["shard_seed"] || Digest::MD5.hexdigest(node.name).hex
        log = "#{r.append_log_file ? ">>" : ">"} #{::File.join(r.log_directory, r.log_file_name)} 2>&1"
        ["/bin/sleep #{Random.new(seed.to_i).rand(r.splay)};", *(r.nice ? ["#{which("nice")} -n #{r.nice}"] : []),
          r.chef_binary_path, *r.daemon_options, "-c #{::File.join(r.config_directory, "client.rb")}",
         *(r.accept_chef_license ? ["--chef-license accept"] : []), log,
         *(r.mailto ? ["|| echo \"Chef Infra Client execution failed\""] : [])].join(" ")
      end
      action(:add) do
        r = new_resource
        unless ::Dir.exist?(r.log_directory)
          declare_resource(:directory, r.log_directory) do
            owner r.user
            mode "0750"
            recursive true
          end
        end
        text = line
        declare_resource(:cron_d, r.job_name) do
          %i{minute hour day weekday month environment user}.each { |n| send(n, r.send(n)) }
          mailto r.mailto if r.mailto
          comment r.comment if r.comment
          command text
        end
      end
      action(:remove) { new_resource.job_name.then { |n| declare_resource(:cron_d, n) { action :delete } } }
    end
  end
end
