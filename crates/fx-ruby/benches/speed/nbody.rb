# Planets that pull each other: instance variables, floats, nested loops.
class Planet
  attr_accessor :x, :y, :z, :vx, :vy, :vz, :mass

  def initialize(x, y, z, vx, vy, vz, mass)
    @x, @y, @z = x, y, z
    @vx, @vy, @vz = vx * 365.24, vy * 365.24, vz * 365.24
    @mass = mass * 39.47841760435743
  end

  def pull(bodies, from, dt)
    while from < bodies.size
      other = bodies[from]
      dx = @x - other.x
      dy = @y - other.y
      dz = @z - other.z
      square = dx * dx + dy * dy + dz * dz
      mag = dt / (square * Math.sqrt(square))
      mine, theirs = @mass * mag, other.mass * mag
      @vx -= dx * theirs
      @vy -= dy * theirs
      @vz -= dz * theirs
      other.vx += dx * mine
      other.vy += dy * mine
      other.vz += dz * mine
      from += 1
    end
    @x += dt * @vx
    @y += dt * @vy
    @z += dt * @vz
  end
end

bodies = [
  Planet.new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
  Planet.new(4.84, -1.16, -0.103, 0.00166, 0.0077, -0.000069, 0.00095),
  Planet.new(8.34, 4.12, -0.4, -0.00276, 0.00499, 0.000023, 0.00028),
  Planet.new(12.89, -15.11, -0.22, 0.00296, 0.00237, -0.00003, 0.000043),
  Planet.new(15.37, -25.91, 0.18, 0.00268, 0.00162, -0.000095, 0.000051)
]
30_000.times do
  bodies.each_with_index { |body, i| body.pull(bodies, i + 1, 0.01) }
end
bodies.each { |body| puts format("%.6f %.6f", body.x, body.vx) }
