# route: a way to a network, now and where the platform keeps it.
class Chef
  class Provider
    class Route < FxComposite
      def load_current_resource
        r = new_resource
        goal = if r.target == "default" then IPAddr.new(r.gateway)
               elsif r.netmask then IPAddr.new("#{r.target}/#{r.netmask}")
               else IPAddr.new(r.target)
               end
        @there = ::File.exist?("/proc/net/route") && ::File.readlines("/proc/net/route").drop(1).any? do |line|
          _, to, via, _, _, _, _, mask = line.split
          to, via, mask = [to, via, mask].map do |h|
            h.to_s.match?(/\A\h{8}\z/) ? [h].pack("H8").bytes.reverse.join(".") : nil
          end
          to && via && mask && IPAddr.new("#{to}/#{mask}") == goal && via == r.gateway
        end
      end
      def bits(mask) = mask.to_s.include?(".") ? mask.to_s.split(".").sum { |o| o.to_i.to_s(2).count("1") } : mask
      def place(r) = r.netmask ? "#{r.target}/#{bits(r.netmask)}" : r.target
      def kept?(*) = %w{rhel fedora amazon}.include?(node["platform_family"])
      def about_file(path, text)
        fx_about(:file, path,
          content: [::File.exist?(path) ? FX.digest(::File.binread(path)) : "absent", FX.digest(text)])
      end
      def keep
        return unless kept?
        r = new_resource
        if r.target == "default"
          path = "/etc/sysconfig/network"
          old = ::File.exist?(path) ? ::File.read(path) : ""
          text = old.match?(/^GATEWAY=/) ? old.sub(/^GATEWAY=.*$/, "GATEWAY=#{r.gateway}") :
            "#{old}GATEWAY=#{r.gateway}\n"
          fx_change("write route default route to #{path}", about_file(path, text)) { ::File.write(path, text) }
          return
        end
        rc = run_context.parent_run_context || run_context
        by = Hash.new { |h, k| h[k] = +"" }
        rc.resource_collection.each do |o|
          next unless o.is_a?(Chef::Resource::Route)
          text = by[o.device || "eth0"]
          next unless @action == :add && Array(o.action) == [:add]
          text << "# #{o.comment}\n" if o.comment
          text << place(o).to_s
          { via: o.gateway, dev: o.device, metric: o.metric }.each { |k, v| text << " #{k} #{v}" if v }
          text << "\n"
        end
        by.each do |dev, text|
          path = "/etc/sysconfig/network-scripts/route-#{dev}"
          fx_change("write route route.#{dev}\n#{text} to #{path}", about_file(path, text)) { ::File.write(path, text) }
        end
      end
      def action_add
        r = new_resource
        unless @there
          command = ["ip", "route", "replace", place(r)]
          { via: r.gateway, dev: r.device, metric: r.metric }.each { |k, v| command += [k.to_s, v.to_s] if v }
          fx_change("run #{command.join(" ")} to add route",
            fx_about(:route, place(r), gateway: [nil, r.gateway || r.device])) do
            shell_out!(*command)
          end
        end
        keep
      end
      def action_delete
        r = new_resource
        if @there
          command = ["ip", "route", "delete", place(r), *(r.gateway ? ["via", r.gateway] : [])]
          fx_change("run #{command.join(" ")} to delete route ",
            fx_about(:route, place(r), gateway: [r.gateway, nil])) do
            shell_out!(*command)
          end
        end
        keep
      end
    end
  end
end
