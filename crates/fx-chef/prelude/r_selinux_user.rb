# selinux_user: an SELinux user with its roles.
FX.load("chef/selinux_table.rb")
class Chef
  class Resource
    class SelinuxUser
      property :roles, Array, coerce: proc { |r| Array(r).sort }
    end
  end
  class Provider
    class SelinuxUser < FxSelinuxTable
      def kind = :user
      def needs = :roles
      def columns = { level: "-L", range: "-r", roles: "-R" }
      def row(line) = line.split(/\s+/, 5).then { |w| { level: w[2], range: w[3], roles: w[4].to_s.split.sort } }
    end
  end
end
