# pacman_package: Arch Linux.
class Chef
  class Provider
    class PacmanPackage < Package
      def manager = "pacman"
    end
  end
end
