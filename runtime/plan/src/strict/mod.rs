//! What is wrong with a document that version 1 of the format loads all the same, each finding with a name.
//!
//! [`Document::parse`] and [`bind`](crate::bind::bind) are the format's own rules and stay as they are. These are the
//! ones that it leaves to the moment of the launch, or to nobody: arguments of reserved symbols, two names for one
//! memory, what is used after it was released.

mod keys;
mod order;
mod resources;
mod symbols;

use crate::document::Document;

pub use keys::duplicate_keys;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A run does not do what the plan says.
    Error,
    /// A run does it, and the author most likely meant something else.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word before a message.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// One thing that the strict checks say. Names are shown as they stand in the document: whoever prints them escapes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// A key that stands twice in one object.
    #[error("`{key}` stands twice in {path}: the last one counts, and other readers may take the first")]
    DuplicateKey {
        /// Where, such as `$.invocations[3]`.
        path: String,
        /// The key.
        key: String,
    },
    /// A reserved symbol with other parameters than its own.
    #[error("`{invocation}`: {symbol} takes {}, found {}", words(.expected), words(.found))]
    ReservedArguments {
        /// The invocation.
        invocation: String,
        /// Its symbol.
        symbol: String,
        /// Its parameters.
        expected: Vec<String>,
        /// Those given.
        found: Vec<String>,
    },
    /// A reserved symbol whose accesses are not what it does.
    #[error("`{invocation}`: {symbol} is a {expected} of the whole of `{resource}`, and the accesses say otherwise")]
    ReservedAccess {
        /// The invocation.
        invocation: String,
        /// Its symbol.
        symbol: String,
        /// The resource.
        resource: String,
        /// What it does with it.
        expected: &'static str,
    },
    /// An argument that no access speaks of.
    #[error("`{invocation}` does not say how it touches `{resource}`")]
    SilentArgument {
        /// The invocation.
        invocation: String,
        /// The resource.
        resource: String,
    },
    /// A resource that is not listed, where others are.
    #[error("`{invocation}` uses `{resource}`, which is not listed: whoever submits supplies it")]
    UnlistedResource {
        /// The first invocation that uses it.
        invocation: String,
        /// The resource.
        resource: String,
    },
    /// Two names of one instance.
    #[error("`{first}` and `{second}` spell the same memory: the hazard law takes them for two")]
    AliasSpelling {
        /// The one listed first.
        first: String,
        /// The other one.
        second: String,
    },
    /// One resource for two parameters, and it is written.
    #[error("`{invocation}` writes `{resource}`, which it has as `{first}` and as `{second}`")]
    AliasParameters {
        /// The invocation.
        invocation: String,
        /// The resource.
        resource: String,
        /// A parameter.
        first: String,
        /// Another one.
        second: String,
    },
    /// A release that waits for nothing.
    #[error("`{release}` releases `{resource}` and waits for nothing: no last use is proven")]
    ReleaseWithoutDependency {
        /// The release.
        release: String,
        /// The resource.
        resource: String,
    },
    /// A use that the release does not wait for, and that does not wait for the release.
    #[error("`{release}` releases `{resource}` before `{user}`, its last use, is complete")]
    ReleaseBeforeLastUse {
        /// The release.
        release: String,
        /// The resource.
        resource: String,
        /// The use.
        user: String,
    },
    /// A use that runs when the resource is gone.
    #[error("`{user}` uses `{resource}` after `{release}` released it")]
    UseAfterRelease {
        /// The release.
        release: String,
        /// The resource.
        resource: String,
        /// The use.
        user: String,
    },
    /// A second release, which does nothing.
    #[error("`{second}` releases `{resource}`, which `{first}` did already")]
    ReleasedTwice {
        /// The resource.
        resource: String,
        /// The earlier one.
        first: String,
        /// The later one.
        second: String,
    },
    /// A release of what the caller owns.
    #[error("`{release}` releases `{resource}`, which is external: its owner releases it")]
    ReleaseOfExternal {
        /// The release.
        release: String,
        /// The resource.
        resource: String,
    },
    /// A resource of another version than the accesses to it.
    #[error("`{invocation}` accesses version {access} of `{resource}`, which is listed with version {listed}")]
    ResourceVersion {
        /// The first invocation that does.
        invocation: String,
        /// The resource.
        resource: String,
        /// The version of the resource.
        listed: u64,
        /// The version of the access.
        access: u64,
    },
    /// A memory space that is no tier.
    #[error("resource `{resource}`: {source}")]
    UnknownMemorySpace {
        /// The resource.
        resource: String,
        /// What was found and what is known.
        source: tiga_abi::TierError,
    },
    /// Another spelling of a tier than plans use.
    #[error("resource `{resource}`: `{found}` is spelled `{canonical}`")]
    MemorySpaceAlias {
        /// The resource.
        resource: String,
        /// The word.
        found: String,
        /// The usual one.
        canonical: &'static str,
    },
    /// Something that the plan owns in a tier that no runtime allocates in.
    #[error("resource `{resource}`: nothing is allocated in `{tier}`, which a kernel or a transport manages")]
    UnallocatableMemorySpace {
        /// The resource.
        resource: String,
        /// The tier.
        tier: &'static str,
    },
    /// More bytes of one tier than 64 bits count.
    #[error("the resources in `{space}` need more than 2^64 bytes: `{resource}` is the one too many")]
    CapacityOverflow {
        /// The tier.
        space: String,
        /// Where the sum overflows.
        resource: String,
    },
    /// A transfer onto itself.
    #[error("`{invocation}` transfers `{resource}` to itself")]
    TransferToItself {
        /// The transfer.
        invocation: String,
        /// The resource.
        resource: String,
    },
    /// A transfer between instances of different data.
    #[error("`{invocation}` transfers `{origin}` to `{destination}`: the names before `@` must be equal")]
    TransferNames {
        /// The transfer.
        invocation: String,
        /// Its source.
        origin: String,
        /// Its destination.
        destination: String,
    },
    /// A transfer between instances of different sizes.
    #[error("`{invocation}` transfers {found} bytes of `{origin}` to {room} of `{destination}`")]
    TransferCapacity {
        /// The transfer.
        invocation: String,
        /// Its source.
        origin: String,
        /// Bytes of the source.
        found: u64,
        /// Its destination.
        destination: String,
        /// Bytes of the destination.
        room: u64,
    },
    /// A task of the first phase that waits for one of the second.
    #[error("`{invocation}` is of `materialize` and waits for `{dependency}` of `execute`")]
    MaterializeAfterExecute {
        /// The invocation.
        invocation: String,
        /// The dependency.
        dependency: String,
    },
}

/// A list of names in a message.
fn words(names: &[String]) -> String {
    if names.is_empty() { "no arguments".into() } else { crate::few::few(names) }
}

impl Finding {
    /// The name that never changes.
    pub const fn code(&self) -> &'static str {
        match self {
            Finding::DuplicateKey { .. } => "duplicate-key",
            Finding::ReservedArguments { .. } => "reserved-arguments",
            Finding::ReservedAccess { .. } => "reserved-access",
            Finding::SilentArgument { .. } => "silent-argument",
            Finding::UnlistedResource { .. } => "unlisted-resource",
            Finding::AliasSpelling { .. } => "alias-spelling",
            Finding::AliasParameters { .. } => "alias-parameters",
            Finding::ReleaseWithoutDependency { .. } => "release-without-dependency",
            Finding::ReleaseBeforeLastUse { .. } => "release-before-last-use",
            Finding::UseAfterRelease { .. } => "use-after-release",
            Finding::ReleasedTwice { .. } => "released-twice",
            Finding::ReleaseOfExternal { .. } => "release-of-external",
            Finding::ResourceVersion { .. } => "resource-version",
            Finding::UnknownMemorySpace { .. } => "unknown-memory-space",
            Finding::MemorySpaceAlias { .. } => "memory-space-alias",
            Finding::UnallocatableMemorySpace { .. } => "unallocatable-memory-space",
            Finding::CapacityOverflow { .. } => "capacity-overflow",
            Finding::TransferToItself { .. } => "transfer-to-itself",
            Finding::TransferNames { .. } => "transfer-names",
            Finding::TransferCapacity { .. } => "transfer-capacity",
            Finding::MaterializeAfterExecute { .. } => "materialize-after-execute",
        }
    }

    /// How bad it is.
    pub const fn severity(&self) -> Severity {
        match self {
            Finding::MemorySpaceAlias { .. } | Finding::UnlistedResource { .. } => Severity::Note,
            Finding::ReleasedTwice { .. } | Finding::ReleaseOfExternal { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// All findings of a document but those of its text ([`duplicate_keys`]): by check, each in declaration order.
pub fn check(document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    resources::check(document, &mut findings);
    symbols::check(document, &mut findings);
    order::check(document, &mut findings);
    findings
}

#[cfg(test)]
mod tests;
