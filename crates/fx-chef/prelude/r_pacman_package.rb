# pacman_package: Arch Linux.
class Chef
  class Provider
    class PacmanPackage < Package
      def installed(n) = fx_look("pacman", "-Qi", n).stdout.to_s[/^Version\s*: (\S+)/, 1]
      def candidate(n) = fx_look("pacman", "-Si", n).stdout.to_s[/^Version\s*: (\S+)/, 1]
      def install(names, _versions) = tool("pacman", "--sync", "--noconfirm", "--noprogressbar", *options, *names)
      def remove(names) = tool("pacman", "--remove", "--noconfirm", "--noprogressbar", *options, *names)
    end
  end
end
