# benchmark
