# Names of the product, as cookbooks ask for them.
module ChefUtils
  module Dist
    class Org
      HOMEBREW_TAP = "chef/chef"
      LEGACY_CONF_DIR = "chef"
      PATH_SUFFIX = "chef"
    end
    class Infra
      CLIENT = "chef-client"
      EXEC = "chef"
      PRODUCT = "Chef Infra Client"
      SHORT = "chef"
      SOLO = "chef-solo"
      ZERO = "Chef Infra Zero"
      SHELL = "chef-shell"
      CLIENT_DIR = "chef"
      CONF_DIR = "/etc/chef"
      DIR_SUFFIX = "chef"
    end
    class Server
      PRODUCT = "Chef Infra Server"
      SERVER = "chef-server"
    end
    class Zero
      PRODUCT = "chef-zero"
    end
  end
end
class Chef
  module Dist
    CLIENT = "chef-client"
    PRODUCT = "Chef Infra Client"
    SHORT = "chef"
    EXEC = "chef"
  end
end
