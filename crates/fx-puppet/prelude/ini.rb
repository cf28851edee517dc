# Files of sections and settings, as providers of such files read and write them.
module Puppet
  module Util
    module IniConfig
      class IniParseError < Puppet::Error
        def initialize(message, file = nil, line = nil)
          super(file ? "#{message} (file: #{file}#{line ? ", line: #{line}" : ""})" : message)
        end
      end
      # A section: its settings as pairs, everything else as it stands.
      class Section
        attr_reader :name, :file, :entries
        attr_writer :destroy
        def initialize(name, file)
          @name, @file, @entries = name, file, []
          @dirty = @destroy = false
        end
        def dirty? = @dirty || @destroy
        def mark_dirty = @dirty = true
        def mark_clean = @dirty = false
        def destroy? = @destroy
        def add_line(line) = @entries << line
        def [](key) = find_entry(key)&.last
        def []=(key, value)
          @dirty = true
          (entry = find_entry(key)) ? entry[1] = value : @entries << [key, value]
        end
        def format
          return +"" if @destroy
          rows = @entries.map { |e| e.is_a?(Array) ? (e[1].nil? ? "" : "#{e[0]}=#{e[1]}\n") : e }
          +"[#{name}]\n#{rows.join}"
        end
        private
        def find_entry(key) = @entries.find { |e| e.is_a?(Array) && e[0] == key }
      end
      # One file: sections, and lines before the first of them.
      class PhysicalFile
        COMMENT = /\A\s*$|\A[#;]|\A\s*rem\s/i
        attr_reader :filetype, :contents
        attr_accessor :destroy_empty, :file_collection
        def initialize(file, options = {})
          @file, @contents = file, []
          @filetype = Puppet::Util::FileType.filetype(:flat).new(file)
          @destroy_empty = options.fetch(:destroy_empty, false)
        end
        def read
          text = @filetype.read
          raise IniParseError, "Cannot read nonexistent file #{@file.inspect}" if text.nil?
          parse(text)
        end
        def parse(text)
          section = key = nil
          text.each_line.with_index(1) do |line, number|
            if line.match?(COMMENT)
              section ? section.add_line(line) : @contents << line
            elsif line.match?(/\A[ \t\r\n\f]/) && section && key
              section[key] += "\n#{line.chomp}"
            elsif (m = line.match(/\A\[([^\]]+)\]/))
              section&.mark_clean
              section, key = add_section(m[1]), nil
            elsif (m = line.match(/\A\s*([^\s=]+)\s*=\s*(.*)$/))
              raise IniParseError, "Property with key #{m[1].inspect} outside of a section" unless section
              section[key = m[1]] = m[2].rstrip
            else
              raise IniParseError.new("Can't parse line '#{line.chomp}'", @file, number)
            end
          end
          section&.mark_clean
        end
        def sections = @contents.grep(Section)
        def get_section(name) = sections.find { |s| s.name == name }
        def format = @contents.map { |c| c.is_a?(Section) ? c.format : c }.join
        def store
          if @destroy_empty && sections.all?(&:destroy?) then ::File.unlink(@file)
          elsif sections.any?(&:dirty?) then @filetype.write(self.format)
          end
          sections.each(&:mark_clean)
        end
        def add_section(name)
          if section_exists?(name)
            raise IniParseError.new("Section #{name.inspect} is already defined, cannot redefine", @file)
          end
          Section.new(name, @file).tap { |s| @contents << s }
        end
        private
        def section_exists?(name) = !!(get_section(name) || @file_collection&.get_section(name))
      end
      class FileCollection
        attr_reader :files
        def initialize = @files = {}
        def read(file) = new_physical_file(file).read
        def store = @files.each_value(&:store)
        def each_section(&block) = @files.values.each { |f| f.sections.each(&block) }
        def each_file(&block) = @files.keys.each(&block)
        def get_section(name) = @files.values.filter_map { |f| f.get_section(name) }.last
        alias [] get_section
        def include?(name) = !get_section(name).nil?
        def add_section(name, file) = get_physical_file(file).add_section(name)
        private
        def get_physical_file(file) = @files[file] || new_physical_file(file)
        def new_physical_file(file)
          @files[file] = PhysicalFile.new(file)
          @files[file].file_collection = self
          @files[file]
        end
      end
      File = FileCollection
    end
  end
end
