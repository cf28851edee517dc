# sudo: a file in sudoers.d, checked by visudo.
class Chef
  class Resource
    class Sudo
      property :filename, String, name_property: true, coerce: proc { |x| x.gsub(/[.~]/, "__") }
      property :users, [String, Array], default: [], coerce: proc { |x| x.is_a?(Array) ? x : x.split(/\s*,\s*/) }
      property :groups, [String, Array], default: [], coerce: proc { |x|
        (x.is_a?(Array) ? x : x.split(/\s*,\s*/)).map { |g| g.start_with?("%") ? g : "%#{g}" }
      }
      property :config_prefix, String, default: lazy { "/etc" }

      action_class do
        def text
          r = new_resource
          who = (r.groups + r.users).join(",")
          flags = "#{"NOEXEC:" if r.noexec}#{"NOPASSWD:" if r.nopasswd}#{"SETENV:" if r.setenv}"
          out = +"# This file is managed by Chef Infra Client. Changes will be overwritten.\n\n"
          r.command_aliases.each { |a| out << "Cmnd_Alias #{a[:name].upcase} = #{a[:command_list].join(", ")}\n" }
          r.env_keep_add.each { |e| out << "Defaults    env_keep += \"#{e}\"\n" }
          r.env_keep_subtract.each { |e| out << "Defaults    env_keep -= \"#{e}\"\n" }
          r.commands.each { |c| out << "#{who} #{r.host}=(#{r.runas}) #{flags}#{c}\n" } unless who.empty?
          out << "Defaults:#{who} #{r.defaults.join(",")}\n" unless r.defaults.empty?
          out
        end

        def check(path)
          r = new_resource
          unless ::File.exist?(r.visudo_binary)
            Chef::Log.warn("The visudo binary cannot be found at '#{r.visudo_binary}'. Skipping sudoer file " \
              "validation. If visudo is on this system you can specify the path using the 'visudo_binary' property.")
            return
          end
          all = "#{r.config_prefix}/sudoers"
          return "cat #{all} | #{r.visudo_binary} -cf - && #{r.visudo_binary} -cf %{path}" if ::File.exist?(path)
          "cat #{all} %{path} | #{r.visudo_binary} -cf -"
        end

        def place = "#{new_resource.config_prefix}/sudoers.d/"
      end

      action :create do
        r = new_resource
        someone = !r.users.empty? || !r.groups.empty?
        unless someone || r.template || !r.env_keep_add.empty? || !r.env_keep_subtract.empty?
          raise "You must specify users, groups, env_keep_add, env_keep_subtract, or template properties!"
        end
        if someone && r.template
          raise "You cannot specify users or groups properties and also specify a template. To use your own template " \
            "pass in all template variables using the variables property."
        end
        package("sudo") { not_if "which sudo", fx_reads: true }
        directory place
        all = "#{r.config_prefix}/sudoers"
        if ::File.readlines(all).grep(/includedir/).empty?
          Chef::Log.warn("#{r.filename} will be rendered, but will not take effect because the #{all} config lacks " \
            "the includedir directive that loads configs from #{place}!")
        end
        path = "#{place}#{r.filename}"
        body, test = (text unless r.template), check(path)
        template path do
          if r.template
            source r.template
            variables r.variables
          else
            self.fx_content = body
          end
          mode "0440"
          verify test if test
        end
      end

      action :install do
        Chef::Log.warn("The sudo :install action has been renamed :create. Please update your cookbook code for the " \
          "new action")
        action_create
      end

      action :delete do
        path = "#{place}#{new_resource.filename}"
        file(path) { action :delete }
      end

      action :remove do
        Chef::Log.warn("The sudo :remove action has been renamed :delete. Please update your cookbook code for the " \
          "new action")
        action_delete
      end
    end
  end
end
