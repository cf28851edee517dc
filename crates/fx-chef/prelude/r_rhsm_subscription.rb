# rhsm_subscription: a pool of a Red Hat subscription.
class Chef
  class Provider
    class RhsmSubscription < FxComposite
      # Serial numbers by pool.
      def consumed
        fx_look("subscription-manager", "list", "--consumed", environment: { "LANG" => "en_US" }).stdout.split(/\n\n+/)
          .to_h do |b|
          [b[/^Pool ID:\s+(\S+)$/, 1], b[/^Serial:\s+(\S+)$/, 1]]
        end
      end
      action(:attach) do
        pool = new_resource.pool_id
        unless consumed.key?(pool)
          fx_change("attach subscription pool #{pool}", fx_about(:rhsm_subscription, pool, attached: [false, true])) do
            fx_tool!("subscription-manager", "attach", "--pool=#{pool}")
          end
        end
      end
      action(:remove) do
        pool = new_resource.pool_id
        have = consumed
        declare_resource(:execute, "Remove subscription pool #{pool}") do
          command "subscription-manager remove --serial=#{have[pool]}"
          self.fx_words = ["subscription-manager", "remove", "--serial=#{have[pool]}"]
          only_if { have.key?(pool) }
        end
      end
    end
  end
end
