# enumerable
