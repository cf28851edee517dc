# Default search paths.
module ChefUtils
  module DSL
    module DefaultPaths
      def default_paths(env = ENV) = env["PATH"]
    end
    PathSanity = DefaultPaths
  end
end
