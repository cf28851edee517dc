# Find: a walk through directories, top down, that can leave out what is below.
module Find
  def self.find(*paths, ignore_error: true)
    return enum_for(:find, *paths, ignore_error: ignore_error) unless block_given?
    paths.each { |p| raise Errno::ENOENT, p unless File.exist?(p) || File.symlink?(p) }
    todo = paths.map(&:dup).reverse
    while (path = todo.pop)
      catch(:prune) do
        yield path.dup
        next unless File.directory?(path) && !File.symlink?(path)
        begin
          names = Dir.children(path).sort
        rescue SystemCallError
          raise unless ignore_error
          next
        end
        names.reverse_each { |n| todo << File.join(path, n) }
      end
    end
    nil
  end
  def self.prune = throw(:prune)
end
