//! The tree. Names follow the original's model, so that who knows it finds the way.

use std::rc::Rc;

use fx_source::Span;

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its statements in order, definitions among them.
    pub body: Rc<Expr>,
    /// All classes, defines, nodes, functions and type aliases, in the order written.
    pub definitions: Vec<Definition>,
}

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// Operators that yield a value from two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Match,
    NotMatch,
    In,
    And,
    Or,
}

impl BinaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Modulo => "%",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Match => "=~",
            BinaryOp::NotMatch => "!~",
            BinaryOp::In => "in",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
        }
    }
}

/// Arrows between resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationOp {
    /// `->`
    Before,
    /// `<-`
    After,
    /// `~>`
    Notify,
    /// `<~`
    Subscribe,
}

impl RelationOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            RelationOp::Before => "->",
            RelationOp::After => "<-",
            RelationOp::Notify => "~>",
            RelationOp::Subscribe => "<~",
        }
    }
}

/// Whether a resource is real, virtual or exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Form {
    #[default]
    Regular,
    Virtual,
    Exported,
}

/// Which resources a collector looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryForm {
    /// `<| |>`
    Virtual,
    /// `<<| |>>`
    Exported,
}

/// One attribute of a resource.
#[derive(Clone, Debug)]
pub enum AttributeOp {
    /// `name => value`, or with `append` `name +> value`.
    Set {
        /// Name.
        name: Rc<str>,
        /// Whether it is `+>`.
        append: bool,
        /// Value.
        value: Expr,
        /// Where the name stands.
        span: Span,
    },
    /// `* => hash`
    Splat {
        /// The hash.
        value: Expr,
        /// Where the star stands.
        span: Span,
    },
}

/// A title with its attributes.
#[derive(Clone, Debug)]
pub struct ResourceBody {
    /// One title, a list of them, or `default`.
    pub title: Expr,
    /// In order.
    pub operations: Vec<AttributeOp>,
}

/// A parameter of a class, define, function, lambda or template.
#[derive(Clone, Debug)]
pub struct Param {
    /// Without the dollar.
    pub name: Rc<str>,
    /// Type, if given.
    pub ty: Option<Expr>,
    /// Default, if given.
    pub default: Option<Expr>,
    /// `*$rest`
    pub captures_rest: bool,
    /// Where the name stands.
    pub span: Span,
}

/// A block of code with parameters.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// In order.
    pub params: Rc<[Param]>,
    /// `>> Type`
    pub return_type: Option<Rc<Expr>>,
    /// A block.
    pub body: Rc<Expr>,
    /// From the first bar to the closing brace.
    pub span: Span,
}

/// A case or selector option.
#[derive(Clone, Debug)]
pub struct CaseOption {
    /// What matches.
    pub values: Vec<Expr>,
    /// What is evaluated then; a block for `case`.
    pub then: Expr,
}

/// A piece of an interpolated string.
#[derive(Clone, Debug)]
pub enum StringPart {
    /// Text, escapes resolved.
    Text(Rc<str>),
    /// An expression; its value becomes text.
    Expr(Expr),
}

/// What a definition defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DefinitionKind {
    Class,
    Define,
    Function,
    TypeAlias,
    Node,
    Plan,
}

/// A named definition. What a kind does not have is empty.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What it defines.
    pub kind: DefinitionKind,
    /// Full name as written, without leading colons.
    pub name: Rc<str>,
    /// In order.
    pub params: Rc<[Param]>,
    /// Inherited class.
    pub parent: Option<Rc<str>>,
    /// `>> Type` of a function.
    pub return_type: Option<Rc<Expr>>,
    /// A block, or the type of an alias.
    pub body: Rc<Expr>,
    /// For nodes.
    pub node: Option<NodeDefinition>,
    /// All of it.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// The head of a node definition.
#[derive(Clone, Debug)]
pub struct NodeDefinition {
    /// Strings, names, regular expressions or `default`.
    pub matches: Vec<Expr>,
}

/// A list of statements.
pub type Body = Vec<Expr>;

/// What an expression is.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are those of the original's model")]
pub enum ExprKind {
    Nop,
    Undef,
    Default,
    Bool(bool),
    Int {
        value: i64,
        radix: u32,
    },
    Float(f64),
    /// A string without interpolation.
    String(Rc<str>),
    Interpolated(Vec<StringPart>),
    Heredoc {
        syntax: Rc<str>,
        text: Box<Expr>,
    },
    Regex(Rc<str>),
    /// A lower-case bare word.
    Name(Rc<str>),
    /// A capitalised bare word, as written.
    Reference(Rc<str>),
    /// Without the dollar; leading colons kept.
    Variable(Rc<str>),
    Array(Vec<Expr>),
    Hash(Vec<(Expr, Expr)>),
    Access {
        left: Box<Expr>,
        keys: Vec<Expr>,
    },
    Call {
        function: Box<Expr>,
        args: Vec<Expr>,
        lambda: Option<Box<Lambda>>,
        statement: bool,
    },
    MethodCall {
        receiver: Box<Expr>,
        name: Rc<str>,
        name_span: Span,
        /// Arguments in parentheses follow the name, be they none.
        parens: bool,
        args: Vec<Expr>,
        lambda: Option<Box<Lambda>>,
    },
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Unfold(Box<Expr>),
    Parenthesized(Box<Expr>),
    Binary {
        op: BinaryOp,
        op_span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Assign {
        op_span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `+=` and `-=`, which parse and are then refused.
    AppendAssign {
        op: &'static str,
        op_span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Relationship {
        op: RelationOp,
        op_span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Selector {
        left: Box<Expr>,
        options: Vec<CaseOption>,
    },
    If {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
        unless: bool,
    },
    Case {
        subject: Box<Expr>,
        options: Vec<CaseOption>,
    },
    Block(Body),
    Lambda(Box<Lambda>),
    Resource {
        form: Form,
        ty: Box<Expr>,
        bodies: Vec<ResourceBody>,
    },
    ResourceDefaults {
        form: Form,
        ty: Box<Expr>,
        operations: Vec<AttributeOp>,
    },
    ResourceOverride {
        form: Form,
        resources: Box<Expr>,
        operations: Vec<AttributeOp>,
    },
    Collector {
        ty: Box<Expr>,
        form: QueryForm,
        query: Option<Box<Expr>>,
        operations: Vec<AttributeOp>,
    },
    /// Index into [`Program::definitions`].
    Definition(usize),
    /// Text of a template.
    RenderText(Rc<str>),
    /// `<%= … %>`
    RenderExpr(Box<Expr>),
    /// A whole template.
    Epp {
        params: Rc<[Param]>,
        params_given: bool,
        body: Rc<Expr>,
    },
    /// A reserved word where a value was expected.
    Reserved(Rc<str>),
}

impl Expr {
    /// Joins a kind with its place.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }
}
