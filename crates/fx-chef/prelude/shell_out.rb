# Mixlib::ShellOut on the machine's own way to run commands.
module Mixlib
  class ShellOut
    class Error < RuntimeError; end
    class ShellCommandFailed < Error; end
    class CommandTimeout < Error; end
    class InvalidCommandOption < Error; end
    class EmptyWindowsCommand < ShellCommandFailed; end
    DEFAULT_READ_TIMEOUT = 600
    class Status
      attr_reader :exitstatus, :termsig, :pid
      def initialize(code, signal) = (@exitstatus, @termsig, @pid = code, signal, 0)
      def success? = @exitstatus == 0
      def exited? = @termsig.nil?
      def signaled? = !@termsig.nil?
      def to_i = (@exitstatus || 0) << 8
    end

    attr_accessor :user, :group, :cwd, :valid_exit_codes, :umask, :environment, :timeout, :input, :live_stdout,
      :live_stderr, :command, :domain, :password, :login, :elevated, :sensitive, :log_level, :log_tag, :fx_shown
    attr_reader :stdout, :stderr, :status, :execution_time, :stdin_pipe
    alias working_dir cwd

    def initialize(*command, **options)
      options = command.pop.merge(options) if command.last.is_a?(Hash)
      @command = command.size == 1 ? command[0] : command
      @stdout = @stderr = ""
      @environment = {}
      @valid_exit_codes = [0]
      @timeout = DEFAULT_READ_TIMEOUT
      options.each do |k, v|
        case k.to_s
        when "cwd" then @cwd = v
        when "user" then @user = v
        when "group" then @group = v
        when "domain" then @domain = v
        when "password" then @password = v
        when "umask" then @umask = v && (v.is_a?(Integer) ? v : v.to_s.oct) & 07777
        when "timeout" then @timeout = v
        when "returns" then @valid_exit_codes = Array(v)
        when "live_stream" then @live_stdout = @live_stderr = v
        when "live_stdout" then @live_stdout = v
        when "live_stderr" then @live_stderr = v
        when "input" then @input = v
        when "logger", "log_level", "log_tag", "elevated", "cgroup" then nil
        when "environment", "env" then @environment = (v || {}).to_h
        when "login" then @login = v
        when "sensitive" then @sensitive = v
        when "fx_reads" then @fx_reads = v
        else raise InvalidCommandOption, "option '#{k.inspect}' is not a valid option for #{self.class.name}"
        end
      end
    end

    def live_stream = @live_stdout
    def live_stream=(s)
      @live_stdout = @live_stderr = s
    end
    def exitstatus = @status && @status.exitstatus
    def uid = nil
    def gid = nil

    def run_command
      env = process_environment
      words = @command.is_a?(Array) ? @command.map(&:to_s) : @command.to_s
      live = @live_stdout ? true : false
      r = FX.shell(words, env, @cwd && @cwd.to_s, @user, @group, @umask, @timeout && @timeout.to_f,
        @input && @input.to_s, live && (@live_stdout.equal?($stdout) || @live_stdout == STDOUT), @fx_reads,
        using_login?)
      code, signal, @stdout, @stderr, timed_out, @execution_time = r
      if live && !@live_stdout.equal?($stdout) && @live_stdout.respond_to?(:<<)
        @live_stdout << @stdout unless @stdout.empty?
        @live_stderr << @stderr if @live_stderr.respond_to?(:<<) && !@stderr.empty?
      end
      @status = Status.new(code, signal)
      if timed_out
        @terminate_reason = "Command exceeded allowed execution time, process terminated"
        fail_with(CommandTimeout, "Command timed out after #{@timeout.to_i}s:\n#{format_for_exception}")
      end
      self
    end

    # With `login`, what a login of the user sets as well.
    def using_login? = @login && @user
    def logon_environment
      return {} unless using_login?
      entry = @user.is_a?(Integer) ? Etc.getpwuid(@user) : Etc.getpwnam(@user.to_s)
      { "HOME" => entry.dir, "SHELL" => entry.shell, "USER" => entry.name, "LOGNAME" => entry.name,
        "PATH" => "/sbin:/bin:/usr/sbin:/usr/bin", "IFS" => "\t\n" }
    end
    def process_environment
      logon_environment.merge(@environment.to_h { |k, v| [k.to_s, v.nil? ? nil : v.to_s] })
    end

    def error? = !Array(@valid_exit_codes).include?(exitstatus)
    def error!
      return unless error?
      invalid!("Expected process to exit with #{@valid_exit_codes.inspect}, but received '#{exitstatus}'")
    end
    def invalid!(msg = nil)
      msg ||= "Command produced unexpected results"
      fail_with(ShellCommandFailed, msg + "\n" + format_for_exception)
    end
    # The exception carries the command and how it ended: line, code, signal, output.
    def fail_with(error, text)
      e = error.new(text)
      unless @sensitive
        e.instance_variable_set(
          :@fx_command, [@fx_shown || Array(@command).join(" "), @status&.exitstatus, @status&.termsig,
          "#{@stdout}#{@stderr}"])
      end
      raise e
    end
    private :fail_with
    def format_for_exception
      return "Command execution failed. STDOUT/STDERR suppressed for sensitive resource" if @sensitive
      shown = @fx_shown || @command
      msg = +""
      msg << "#{@terminate_reason}\n" if @terminate_reason
      msg << "---- Begin output of #{shown} ----\nSTDOUT: #{@stdout.strip}\nSTDERR: #{@stderr.strip}\n---- End " \
        "output of #{shown} ----\n"
      msg << "Ran #{shown} returned #{exitstatus}" if @status
      msg
    end
    def inspect
      "<#{self.class.name}##{object_id}: command: '#{@command}' process_status: #{@status.inspect} stdout: '" \
        "#{stdout.strip}' stderr: '#{stderr.strip}' child_pid: nil environment: #{@environment.inspect} timeout: " \
        "#{timeout} user: #{@user} group: #{@group} working_dir: #{@cwd} >"
    end
  end
end
