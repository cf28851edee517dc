# Argument: optcarrot's sources. Twenty pictures of a game.
$:.unshift(File.join(ARGV[0], "lib"))
require "optcarrot"
rom = File.join(ARGV[0], "examples/Lan_Master.nes")
nes = Optcarrot::NES.new(["--headless", "--frames=20", "--opt-ppu=all", "--print-video-checksum", rom])
nes.run
