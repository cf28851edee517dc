# One run at a time: a lock on a file, which ends with the process that has it.
class Chef
  class RunLock
    attr_reader :runlock_file, :runlock
    def initialize(lockfile = Chef::Config[:lockfile])
      @runlock_file = lockfile || ::File.join(Chef::Config[:file_cache_path], "chef-client-running.pid")
      @timeout = Chef::Config[:run_lock_timeout]&.to_i
    end
    def timeout = @timeout

    def acquire
      return if test
      raise Chef::Exceptions::RunLockTimeout.new(0, holder) if @timeout == 0
      wait
    end

    # Whether it is ours now.
    def test
      dir = ::File.dirname(@runlock_file)
      FX.own_state do
        unless ::File.directory?(dir)
          require "fileutils"
          ::FileUtils.mkdir_p(dir)
        end
        @runlock ||= ::File.open(@runlock_file, ::File::RDWR | ::File::CREAT, 0644)
      end
      taken
    end

    def wait
      Chef::Log.warn("Chef Infra Client #{holder} is running, will wait for it to finish and then run.")
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      until taken
        FX.check_stop
        if @timeout && Process.clock_gettime(Process::CLOCK_MONOTONIC) - began >= @timeout
          raise Chef::Exceptions::RunLockTimeout.new(@timeout, holder)
        end
        sleep 0.1
      end
    end

    # What others read to name who has it.
    def save_pid
      @runlock.truncate(0)
      @runlock.rewind
      @runlock.write(Process.pid.to_s)
      @runlock.flush
    end

    # The file stays: somebody may wait for it.
    def release
      return unless @runlock
      @runlock.flock(::File::LOCK_UN)
      @runlock.close
      @runlock = nil
    end

    private

    def taken = @runlock.flock(::File::LOCK_EX | ::File::LOCK_NB) == 0
    def holder = ::File.read(@runlock_file).strip
  end
end
