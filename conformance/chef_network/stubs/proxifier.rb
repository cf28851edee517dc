module Proxifier; end
