# `Did you mean?` below the messages of names and keys that are not there.
def show = (yield; nil) rescue puts($!.message.gsub(/0x\h+/, "0x"), "--")
class Tool
  attr_accessor :color
  def initialize = @width = 1
  def go = widht
  def away = self.colr
  private def hidden_one = 1
  def call = hidden_on(1)
end
module Outer
  class Inner; end
end
first_value = 1
show { frist_value }
show { [1].frist }
show { Tool.new.go }
show { Tool.new.away }
show { Tool.new.call }
show { Tool.new.hidden_on }
show { { foo: 1, bar: 2 }.fetch(:fo) }
show { { foo: 1 }.fetch("foo") }
show { { "some_key" => 1 }.fetch("some_kye") }
show { { 1 => 2 }.fetch(3) }
show { Outer::Iner }
show { Strng }
show { nil.frist }
show { zork_of_nothing }
show { case { foo: 1 }; in { fooo: }; 1; end }
show { Struct.new(:width).new(1)[:widht] }
begin
  [].lenght
rescue => e
  puts e.inspect, e.full_message(highlight: false).lines.drop(1)
end
