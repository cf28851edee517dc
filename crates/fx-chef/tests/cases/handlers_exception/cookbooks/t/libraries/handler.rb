class Teller < Chef::Handler
  def initialize(path)
    @path = path
  end

  def report
    ::File.write(@path, "#{success? ? 'well' : 'badly'} #{updated_resources.map(&:to_s)} of #{all_resources.size} #{exception && exception.class}\n")
  end
end
