# linux_user: what `user` means on Linux.
class Chef
  class Provider
    class User
      class LinuxUser < User; end
    end
  end
end
