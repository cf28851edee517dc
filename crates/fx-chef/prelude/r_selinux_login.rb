# selinux_login: the SELinux user of a login.
FX.load("chef/selinux_table.rb")
class Chef
  class Provider
    class SelinuxLogin < FxSelinuxTable
      def kind = :login
      def needs = :user
      def columns = { user: "-s", range: "-r" }
      def row(line) = line.split(/\s+/).then { |w| { user: w[1], range: w[2] } }
    end
  end
end
