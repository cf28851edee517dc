//! Names with fixed numbers: methods and variables the runtime itself speaks of.

use fx_ruby_syntax::Sym;

macro_rules! names {
    ($($id:ident = $text:literal),* $(,)?) => {
        #[expect(non_camel_case_types, reason = "numbers the list below")]
        #[expect(clippy::upper_case_acronyms, reason = "the names of constants")]
        #[allow(dead_code, reason = "the list is one; not every name is used by Rust code")]
        enum Numbers { $($id),* }
        $(#[allow(dead_code, reason = "the list is one")] pub(crate) const $id: Sym = Sym(Numbers::$id as u32);)*
        pub(crate) const ALL: &[&str] = &[$($text),*];
    };
}

names! {
    EMPTY = "", INITIALIZE = "initialize", METHOD_MISSING = "method_missing", RESPOND_TO = "respond_to?",
    RESPOND_TO_MISSING = "respond_to_missing?", TO_S = "to_s", INSPECT = "inspect", TO_STR = "to_str",
    TO_ARY = "to_ary", TO_A = "to_a", TO_HASH = "to_hash", TO_H = "to_h", TO_INT = "to_int", TO_I = "to_i",
    TO_F = "to_f", TO_R = "to_r", TO_PROC = "to_proc", TO_SYM = "to_sym", TO_PATH = "to_path", EACH = "each", CALL = "call",
    NEW = "new", ALLOCATE = "allocate", HASH = "hash", EQL = "eql?", EQ = "==", EQQ = "===", CMP = "<=>",
    EQUAL = "equal?", NOT = "!", NEQ = "!=", MATCH_OP = "=~", ADD = "+", SUB = "-", MUL = "*", DIV = "/", MOD = "%",
    POW = "**", LT = "<", LE = "<=", GT = ">", GE = ">=", LSHIFT = "<<", RSHIFT = ">>", BAND = "&", BOR = "|",
    BXOR = "^", BNOT = "~", AREF = "[]", ASET = "[]=", UMINUS = "-@", UPLUS = "+@", COERCE = "coerce", SUCC = "succ",
    INHERITED = "inherited", INCLUDED = "included", EXTENDED = "extended", PREPENDED = "prepended",
    METHOD_ADDED = "method_added", SINGLETON_METHOD_ADDED = "singleton_method_added",
    METHOD_REMOVED = "method_removed", METHOD_UNDEFINED = "method_undefined",
    SINGLETON_METHOD_REMOVED = "singleton_method_removed", SINGLETON_METHOD_UNDEFINED = "singleton_method_undefined",
    CONST_MISSING = "const_missing", CONST_ADDED = "const_added", APPEND_FEATURES = "append_features",
    EXTEND_OBJECT = "extend_object", PREPEND_FEATURES = "prepend_features", INITIALIZE_COPY = "initialize_copy",
    INITIALIZE_DUP = "initialize_dup", INITIALIZE_CLONE = "initialize_clone", EXCEPTION = "exception",
    MESSAGE = "message", BACKTRACE = "backtrace", DECONSTRUCT = "deconstruct", DECONSTRUCT_KEYS = "deconstruct_keys",
    BEGIN = "begin", END = "end", FIRST = "first", LAST = "last", SIZE = "size", LENGTH = "length", MIN = "min", MAX = "max",
    NAME = "name", DUP = "dup", CLONE = "clone", FREEZE = "freeze", DEFAULT = "default", KEYS = "keys", FETCH = "fetch",
    WRITE = "write", PUTS = "puts", PRINT = "print", READ = "read", CLOSE = "close", FILENO = "fileno",
    MAIN = "<main>", BLOCK = "block", SUPER = "super", SEND = "send", UU_SEND = "__send__", CLASS = "class",
    OBJECT_ID = "object_id", UU_ID = "__id__", INSTANCE_EVAL = "instance_eval", INSTANCE_EXEC = "instance_exec",
    KEY = "key", RECEIVER = "receiver", HIGHLIGHT = "highlight", CAUSE = "cause", EXCEPTION_KW = "exception:", FULL = "full_message",
    INIT_MARK = "@__init__", RESULT = "@result", REASON = "@reason", STATUS = "@status", TAG = "@tag", VALUE = "@value",
    IV_NAME = "@name", IV_RECEIVER = "@receiver", IV_KEY = "@key", IV_ERRNO = "@errno", IV_SIGNO = "@signo", IV_ARGS = "@args",
    IV_PATH = "@path", IV_NUM = "@numerator", IV_DEN = "@denominator",
    STRING_ENC = "encoding", EXCLUDE_END = "exclude_end?", PLUS_AT = "plus", KEEP = "chomp", MODE = "mode", HALF = "half",
    FREEZE_KW = "freeze_kw", RANDOM = "random", BY = "by", TO = "to", STEP = "step", BASE = "base", UPLEVEL = "uplevel",
    CATEGORY = "category", INHERIT = "inherit", EXCLUSIVE = "exclusive", SYMBOLIZE = "symbolize_names", COUNT = "count",
    EACH_WITH_INDEX = "each_with_index", MAP = "map", SELECT = "select", BINDING_LOCALS = "local_variables",
    SORT_CMP = "<=>!", INSTANCE_VARIABLES = "instance_variables", TRACED = "$ traced", EACH_BYTE = "each_byte", MARSHAL_DUMP = "marshal_dump", MARSHAL_LOAD = "marshal_load",
    IV_FIELDS = "@__fields__", IV_KWINIT = "@__kwinit__", IV_MEMBERS = "@__members__", ENUM_SIZE = "enumerator_size",
    INSTANCE_METHOD = "instance_method", GV_STDOUT = "$stdout", GV_STDERR = "$stderr", GV_STDIN = "$stdin",
    GV_ERR = "$!", GV_AT = "$@", GV_MATCH = "$~", GV_LINE = "$_", GV_RS = "$/", GV_FS = "$;", GV_OFS = "$,", GV_ORS = "$\\",
    GV_PID = "$$", GV_STATUS = "$?", GV_0 = "$0", GV_VERBOSE = "$VERBOSE", GV_DEBUG = "$DEBUG", GV_LOAD_PATH = "$LOAD_PATH",
    GV_FEATURES = "$LOADED_FEATURES", GV_PROGRAM = "$PROGRAM_NAME", GV_COLON = "$:", GV_QUOTE = "$\"", GV_STAR = "$*",
    GV_GT = "$>", GV_LT = "$<", GV_DOT = "$.", GV_W = "$-w", GV_V = "$-v", GV_I = "$-I", GV_DASH_D = "$-d", GV_FILENAME = "$FILENAME",
    GV_TILDE_AMP = "$&", GV_BACKTICK = "$`", GV_TICK = "$'", GV_PLUS = "$+", GV_DASH0 = "$-0", GV_DASHF = "$-F", GV_EQ = "$=",
    GV_A = "$-a", GV_L = "$-l", GV_P = "$-p", GV_DASH_I = "$-i", EXIT_STATUS = "@exit_status", DATA = "DATA",
    SET_BACKTRACE = "set_backtrace", BACKTRACE_LOCATIONS = "backtrace_locations", DETAILED = "detailed_message", EACH_PAIR = "each_pair",
    BACKTICK = "`", CONST = "const", LAZY = "lazy", FORCE = "force", PRED = "pred", COVER = "cover?", INCLUDE_P = "include?", NEXT = "next",
    TO_JSON = "to_json", BASENAME = "basename", IV_OBJ = "@__obj__", YIELD = "yield", IV_ENC = "@encoding", STDOUT = "STDOUT",
    SCAN_STRING = "@string", SCAN_POS = "@pos", SCAN_GROUPS = "@m", SCAN_PATTERN = "@re", SCAN_BEFORE = "@prev",
    SCAN_FIXED = "@fixed", SCAN_AREF = "__aref",
}
