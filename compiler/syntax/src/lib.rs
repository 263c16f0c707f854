//! Tokens, grammar, AST and printer of the `.tg` language.

pub mod ast;
