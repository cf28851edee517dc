# All cookbooks of a lock are loaded.
module LoadedToo; end
