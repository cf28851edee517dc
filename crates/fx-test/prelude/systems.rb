# Current releases of the main distributions, for specs that ask for a system nobody has installed facts of.
module RSpec
  module Core
    module Systems
      # Names as Ohai and Facter have them, release, family in both, codename, kernel.
      Row = Struct.new(:platform, :name, :version, :family, :osfamily, :codename, :kernel, :full) do
        def release = full || version
        def major = name == "Ubuntu" ? version : version[/\A\d+/]
      end
      ROWS = [
        ["ubuntu", "Ubuntu", "20.04", "debian", "Debian", "focal", "5.4.0-216-generic"],
        ["ubuntu", "Ubuntu", "22.04", "debian", "Debian", "jammy", "5.15.0-140-generic"],
        ["ubuntu", "Ubuntu", "24.04", "debian", "Debian", "noble", "6.8.0-60-generic"],
        ["debian", "Debian", "11", "debian", "Debian", "bullseye", "5.10.0-35-amd64", "11.11"],
        ["debian", "Debian", "12", "debian", "Debian", "bookworm", "6.1.0-37-amd64", "12.11"],
        ["debian", "Debian", "13", "debian", "Debian", "trixie", "6.12.41+deb13-amd64", "13.0"],
        ["redhat", "RedHat", "8.10", "rhel", "RedHat", "Ootpa", "4.18.0-553.el8_10.x86_64"],
        ["redhat", "RedHat", "9.6", "rhel", "RedHat", "Plow", "5.14.0-570.12.1.el9_6.x86_64"],
        ["redhat", "RedHat", "10.0", "rhel", "RedHat", "Coughlan", "6.12.0-55.9.1.el10_0.x86_64"],
        ["almalinux", "AlmaLinux", "8.10", "rhel", "RedHat", "Cerulean Leopard", "4.18.0-553.el8_10.x86_64"],
        ["almalinux", "AlmaLinux", "9.6", "rhel", "RedHat", "Sage Margay", "5.14.0-570.12.1.el9_6.x86_64"],
        ["almalinux", "AlmaLinux", "10.0", "rhel", "RedHat", "Purple Lion", "6.12.0-55.9.1.el10_0.x86_64"],
        ["rocky", "Rocky", "8.10", "rhel", "RedHat", "Green Obsidian", "4.18.0-553.el8_10.x86_64"],
        ["rocky", "Rocky", "9.6", "rhel", "RedHat", "Blue Onyx", "5.14.0-570.17.1.el9_6.x86_64"],
        ["rocky", "Rocky", "10.0", "rhel", "RedHat", "Red Quartz", "6.12.0-55.12.1.el10_0.x86_64"],
        ["centos", "CentOS", "9", "rhel", "RedHat", "Stream", "5.14.0-592.el9.x86_64"],
        ["centos", "CentOS", "10", "rhel", "RedHat", "Coughlan", "6.12.0-92.el10.x86_64"],
        ["oracle", "OracleLinux", "8.10", "rhel", "RedHat", "n/a", "5.15.0-206.153.7.el8uek.x86_64"],
        ["oracle", "OracleLinux", "9.6", "rhel", "RedHat", "n/a", "6.12.0-1.23.3.2.el9uek.x86_64"],
        ["amazon", "Amazon", "2023", "amazon", "RedHat", "n/a", "6.1.140-154.222.amzn2023.x86_64"],
        ["fedora", "Fedora", "41", "fedora", "RedHat", "n/a", "6.11.4-301.fc41.x86_64"],
        ["fedora", "Fedora", "42", "fedora", "RedHat", "Adams", "6.14.0-63.fc42.x86_64"],
        ["opensuse", "OpenSuSE", "15.6", "suse", "Suse", "n/a", "6.4.0-150600.21-default"],
        ["suse", "SLES", "15.6", "suse", "Suse", "n/a", "6.4.0-150600.21-default"],
      ].map { |row| Row.new(*row).freeze }.freeze

      # The newest release that is this one, or begins with it.
      def self.find(platform, version)
        known = ROWS.select { |row| row.platform == platform }
        wanted = version.to_s
        known.find { |row| row.version == wanted } ||
          known.select { |row| wanted.empty? || row.version.start_with?("#{wanted}.") }
            .max_by { |row| row.version.split(".").map(&:to_i) }
      end
    end
  end
end
