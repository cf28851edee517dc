# chef_client_cron: known by its properties; numbers may come as text.
class Chef
  class Resource
    class ChefClientCron
      property :splay, [Integer, String], default: 300, coerce: proc { |x| Integer(x) }
      property :nice, [Integer, String], coerce: proc { |x| Integer(x) }
    end
  end
end
