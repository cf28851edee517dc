Puppet::Type.type(:marker).provide(:ruby) do
  def exists?
    File.exist?(resource[:path])
  end

  def create
    File.write(resource[:path], resource[:text])
  end

  def destroy
    File.delete(resource[:path])
  end
end
