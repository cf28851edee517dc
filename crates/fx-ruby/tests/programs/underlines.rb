# What Ruby 3.1 adds to the message of a NameError: the line, with what failed underlined.
def show
  yield
rescue NameError => e
  puts e.message.gsub(/0x\h+/, '0x'), '--'
end

class Named
  def y = nil
  def z = 1
  def method_missing(name, *) = super
  def respond_to_missing?(*) = false
  private def hidden = 1
end

x = nil
o = Named.new
show { nil.zork }
show { nil.zork(1, 2).bar }
show { x[0] }
show { x[0] = 2 }
show { x + 1 }
show { x.zork  = 3 }
show { zork_bar }
show { self.zork_bar }
show { zork_bar 1 do |y| y end }
show { Zork::Bar }
show { Process::Zork }
show { ::Zork }
show { -x }
show {
  x
    .zork }
show { x.
  zork }
show { x[0,
         1] }
show { x.zork += 1 }
show { x[1] += 1 }
show { o.y += 1 }
show { h = {}; h[1] += 1 }
show { x += 1 }
show { @none += 1 }
show { x.zork ||= 1 }
show { "a#{x.zork}b" }
show { nil.instance_eval { zork } }
show { nil.send(:zork) }
show { [1].map(&:zork) }
show { x::zork }
show { x.() }
show { o < 1 }
show { "é"; nil.zork }
show { raise NameError, 'own' }
show { raise NoMethodError.new('own', :x) }
show { raise NameError.new('named', :zork) }
show { eval('nil.zork') }
show { ''.instance_eval('nil.zork', 'f', 3) }
show { Object.const_get(:Zork) }
show { 'abc'.method(:zork) }
show { o.hidden }
show { o.zork(1) }
show { 	nil.	zork }
show { super }
show { Module.new.zork }
show { Object.new.instance_variable_get('1') }
show { o = Object.new; def o.inspect = '#here'; o.zork }
show { Class.new { undef zork } }
e = NameError.new('not raised')
puts e.message
begin
  nil.zork
rescue => e
  e.set_backtrace(['a:1'])
  puts e.message
end
