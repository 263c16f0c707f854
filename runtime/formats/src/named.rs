//! `NAME=VALUE` as command lines bind inputs.

use std::str::FromStr;

/// A name and what is bound to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What stands before the first `=`; not empty.
    pub name: String,
    /// What stands behind it.
    pub value: String,
}

/// The argument has no `=`, or no name before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected NAME=VALUE")]
pub struct NotNamed;

impl FromStr for Named {
    type Err = NotNamed;

    fn from_str(text: &str) -> Result<Self, NotNamed> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Named { name: name.into(), value: value.into() }),
            _ => Err(NotNamed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_be_empty_or_hold_signs_of_equality() {
        let named = |name: &str, value: &str| Ok(Named { name: name.into(), value: value.into() });
        assert_eq!("x=a=b".parse(), named("x", "a=b"));
        assert_eq!("x=".parse(), named("x", ""));
        assert_eq!("=b".parse::<Named>(), Err(NotNamed));
        assert_eq!("x".parse::<Named>(), Err(NotNamed));
    }
}
