# The part of Racc that generated parsers call while they run: an automaton over the tables of the grammar.
module Racc
  class ParseError < StandardError; end

  class Parser
    # Tokens with a place of their own in every table.
    FINISH, ERROR = 0, 1
    Tables = Struct.new(
      :action, :action_check, :action_default, :action_pointer, :goto, :goto_check, :goto_default, :goto_pointer,
      :nt_base, :reduce, :token, :shift_n, :reduce_n, :use_result
    )

    # Asks `next_token` for pairs of a token and its value; false or nil in the place of a token is the end.
    def do_parse
      __racc_run { next_token }
    end

    # Takes the pairs that a method yields; when that returns there are no more.
    def yyparse(receiver, method)
      tokens = Enumerator.new { |out| receiver.__send__(method) { |*pair| out << (pair.size == 1 ? pair[0] : pair) } }
      ended = false
      __racc_run do
        next [false, "$end"] if ended
        begin
          tokens.next
        rescue StopIteration
          ended = true
          [false, "$end"]
        end
      end
    end

    def next_token
      raise NotImplementedError, "#{self.class}#next_token is not defined"
    end

    def on_error(token, value, _values)
      raise ParseError, "\nparse error on value %s (%s)" % [value.inspect, token_to_str(token) || "?"]
    end

    def token_to_str(token)
      self.class::Racc_token_to_s_table[token]
    end

    # What actions call: an error of their own, the end, and that an error is over.
    def yyerror = throw(:__racc_jump, :error)
    def yyaccept = throw(:__racc_jump, :accept)
    def yyerrok = (@__racc_errors = 0)

    private

    def __racc_run(&source)
      tables = Tables.new(*self.class::Racc_arg)
      tables.use_result = true if self.class::Racc_arg.size < 14
      @__racc_errors = 0
      @__racc_source, @__racc_token, @__racc_value = source, nil, nil
      states, values = [0], []
      loop do
        act = __racc_action(tables, states.last)
        act = __racc_act(tables, states, values, act) while act.is_a?(Integer)
        return act[0] if act
      end
    end

    # What the tables say about the next token, which is read only where that matters.
    def __racc_action(tables, state)
      at = tables.action_pointer[state]
      return tables.action_default[state] unless at
      __racc_read(tables) if @__racc_token.nil? && @__racc_source
      __racc_entry(tables, state, at + @__racc_token) || tables.action_default[state]
    end

    def __racc_entry(tables, state, at)
      tables.action[at] if at >= 0 && tables.action_check[at] == state
    end

    def __racc_read(tables)
      token, @__racc_value = @__racc_source.call || [false, "$"]
      @__racc_token = token ? tables.token.fetch(token, ERROR) : FINISH
    end

    # Does what an entry says. Returns the next entry, [result] at the end, or nil to look at the next token.
    def __racc_act(tables, states, values, act)
      if act.positive? && act < tables.shift_n
        @__racc_errors -= 1 if @__racc_errors.positive?
        states.push(act)
        values.push(@__racc_value)
        @__racc_token = nil
      elsif act.negative? && act > -tables.reduce_n
        jump = catch(:__racc_jump) do
          states.push(__racc_reduce(tables, states, values, act))
          nil
        end
        return [values[0]] if jump == :accept
        return __racc_recover(tables, states, values, true) if jump == :error
      elsif act == tables.shift_n
        return [values[0]]
      else
        return __racc_recover(tables, states, values, false)
      end
      nil
    end

    def __racc_reduce(tables, states, values, act)
      count, to, method = tables.reduce[act * -3, 3]
      taken = count.zero? ? [] : values.pop(count)
      states.pop(count)
      value =
        if tables.use_result then __send__(method, taken, values, taken[0])
        else __send__(method, taken, values)
        end
      values.push(value)
      number = to - tables.nt_base
      at = tables.goto_pointer[number]
      at += states.last if at
      state = tables.goto[at] if at && at >= 0 && tables.goto_check[at] == number
      state || tables.goto_default[number]
    end

    # Back to a state that knows what to do about an error; in the three tokens after one a further one is not reported.
    def __racc_recover(tables, states, values, own)
      if !own && @__racc_errors.zero?
        on_error(@__racc_token, @__racc_value, values)
      elsif !own && @__racc_errors == 3
        return [nil] if @__racc_token == FINISH
        @__racc_token = nil
      end
      @__racc_errors = 3
      loop do
        at = tables.action_pointer[states.last]
        act = at && __racc_entry(tables, states.last, at + ERROR)
        if act
          # The error takes the place of the token, which is looked at once more.
          held, @__racc_token = [@__racc_token, @__racc_value], ERROR
          @__racc_value = nil
          done = __racc_act(tables, states, values, act)
          @__racc_token, @__racc_value = held
          @__racc_errors = 3
          return done
        end
        return [nil] if states.size <= 1
        states.pop
        values.pop
      end
    end
  end
end
ParseError = Racc::ParseError unless defined?(ParseError)
