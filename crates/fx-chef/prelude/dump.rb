# The resource collection as data, for `--fx-collection`.
require "json"
class Chef
  module FxDump
    def self.json(run_context)
      list = run_context.resource_collection.map { |r| one(run_context, r) }
      ::JSON.generate("resources" => list)
    end

    def self.one(rc, r)
      props = {}
      r.class.properties.each do |name, p|
        next if name == :name || !p.instance_variable_name || !p.is_set?(r)
        props[name.to_s] = show(p.get_value(r))
      end
      { "type" => (r.declared_type || r.resource_name).to_s, "name" => r.name, "action" => Array(r.action).map(&:to_s),
        "props" => props,
        "guards" => r.only_if.map { |c| guard("only_if", c) } + r.not_if.map { |c| guard("not_if", c) },
        "notifies" => notes("before", rc.before_notifications(r)) + notes("immediate", rc.immediate_notifications(r)) +
        notes("delayed", rc.delayed_notifications(r)),
        "recipe" => "#{r.cookbook_name}::#{r.recipe_name}" }
    end

    def self.guard(kind, c)
      c.command ? "#{kind} #{c.command.is_a?(Array) ? c.command.inspect : c.command}" : "#{kind} {}"
    end
    def self.notes(kind, list) = list.map { |n| "#{kind} #{n.action} #{target(n.resource)}" }
    def self.target(t)
      case t
      when Chef::Resource then t.declared_key
      when Hash then t.map { |k, v| "#{k}[#{v}]" }.join(",")
      else t.to_s
      end
    end

    def self.show(v)
      case v
      when nil, true, false, Integer, Float then v
      when Chef::DelayedEvaluator then "<lazy>"
      when Proc then "<proc>"
      when Symbol then ":#{v}"
      when String then v.dup.force_encoding("UTF-8")
      when Regexp then "/#{v.source}/"
      when Hash then v.to_h { |k, x| [k.is_a?(Symbol) ? ":#{k}" : k.to_s, show(x)] }
      when Array then v.map { |x| show(x) }
      else "<#{v.class}>"
      end
    end
  end
end
