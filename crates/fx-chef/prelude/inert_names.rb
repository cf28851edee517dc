# Names that exist in Chef and do little here.
class Chef
  module FileContentManagement; end
  class FileAccessControl; end
  module ReservedNames
    class Win32; end
  end
  class Daemon; end
  class User; end
  class Knife; end
  module Chefspec; end
  class Shell; end
  module LocalMode; end
  class ActionCollection; end
  module Win32; end
  class ResourceReporter; end
  class WorkstationConfigLoader; end
  class SecretFetcher; end
  module Compliance; end
  module PolicyBuilder; end
  class ScanAccessControl; end
  class FileSystem; end
  class Telemeter; end
  class TrainTransport; end
  module TargetIO
    File = ::File
    Dir = ::Dir
    IO = ::IO
  end
  module DataCollector; end
end
module InSpec; end
