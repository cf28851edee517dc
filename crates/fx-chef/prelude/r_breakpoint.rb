# breakpoint: stops nothing here.
class Chef
  class Provider
    class Breakpoint < Chef::Provider
      def load_current_resource = nil
      def action_break = nil
    end
  end
end
