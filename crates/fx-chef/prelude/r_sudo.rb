# sudo: a file in sudoers.d, checked by visudo.
class Chef
  class Resource
    class Sudo
      property :filename, String, name_property: true, coerce: proc { |x| x.gsub(/[.~]/, "__") }
      property :users, [String, Array], default: [], coerce: proc { |x| x.is_a?(Array) ? x : x.split(/\s*,\s*/) }
      property :groups, [String, Array], default: [], coerce: proc { |x| (x.is_a?(Array) ? x : x.split(/\s*,\s*/)).map { |g| g.start_with?("%") ? g : "%#{g}" } }
      property :config_prefix, String, default: lazy { "/etc" }
      alias user users
      alias group groups
    end
  end
  class Provider
    class Sudo < FxComposite
      def text
        r = new_resource
        who = (r.groups + r.users).join(",")
        out = [+"# This file is managed by Chef Infra Client. Changes will be overwritten.", ""]
        r.command_aliases.each { |a| out << "Cmnd_Alias #{a[:name].to_s.upcase} = #{Array(a[:command_list]).join(", ")}" }
        r.env_keep_add.each { |e| out << "Defaults env_keep += \"#{e}\"" }
        r.env_keep_subtract.each { |e| out << "Defaults env_keep -= \"#{e}\"" }
        r.commands.each { |c| out << "#{who} #{r.host}=(#{r.runas}) #{"NOEXEC:" if r.noexec}#{"NOPASSWD:" if r.nopasswd}#{"SETENV:" if r.setenv}#{c}" } unless who.empty?
        r.defaults.each { |d| out << "Defaults:#{who} #{d}" }
        out.join("\n") + "\n"
      end
      action(:create) do
        r = new_resource
        if r.users.empty? && r.groups.empty? && r.env_keep_add.empty? && r.env_keep_subtract.empty? && r.template.nil?
          raise "You must specify users, groups, env_keep_add, env_keep_subtract, or template properties!"
        end
        dir = "#{r.config_prefix}/sudoers.d/"
        path = "#{dir}#{r.filename}"
        declare_resource(:directory, dir)
        check = ::File.exist?(r.visudo_binary) ? "#{r.visudo_binary} -cf %{path}" : nil
        if r.template
          declare_resource(:template, path) do
            source r.template
            mode "0440"
            variables r.variables if r.variables
            verify check if check
          end
        else
          body = text
          t = declare_resource(:template, path) do
            self.fx_content = body
            mode "0440"
            verify check if check
          end
        end
      end
      alias action_install action_create
      action(:delete) do
        f = "#{new_resource.config_prefix}/sudoers.d/#{new_resource.filename}"
        declare_resource(:file, f) { action :delete }
      end
      alias action_remove action_delete
    end
  end
end
