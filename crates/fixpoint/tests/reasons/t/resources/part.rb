unified_mode true
property :where, String, required: true
action :create do
  file "#{new_resource.where}/part" do
    content 'y'
  end
end
