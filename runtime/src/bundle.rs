//! A bundle ready to run: its manifest, plans, and the kernels of the best target.
#![allow(unsafe_code)]

use crate::error::PlanProblem;
use crate::keep;
use crate::library::Library;
use crate::steps::Steps;
use crate::{Call, Context, Prepared, RuntimeError};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use tiga_abi::KernelFn;
use tiga_bundle::{Manifest, Program, Target};
use tiga_plan::Template;

/// An opened bundle. Cheap to clone; may be used from many threads.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub(crate) inner: Arc<Loaded>,
}

#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) file: Arc<tiga_bundle::Bundle>,
    pub(crate) target: Target,
    /// Loaded for the first run: to load a shared object is to run what it says, and opening a file runs nothing.
    library: OnceLock<Library>,
    loading: Mutex<()>,
    /// By program; resolved for its first run.
    steps: Vec<OnceLock<Steps>>,
}

impl Loaded {
    fn new(file: Arc<tiga_bundle::Bundle>, target: Target, library: OnceLock<Library>) -> Self {
        let steps = file.manifest().programs.iter().map(|_| OnceLock::new()).collect();
        Self { file, target, library, loading: Mutex::new(()), steps }
    }

    /// A program's plan with its names resolved.
    ///
    /// # Errors
    /// The kernels cannot be loaded; the plan may not run.
    pub(crate) fn steps(&self, program: &Program, plan: &Template) -> Result<&Steps, RuntimeError> {
        let programs = &self.file.manifest().programs;
        let place = programs.iter().zip(&self.steps).find(|(other, _)| other.name == program.name);
        let (_, place) = place.expect("a call is of a program of its bundle");
        if let Some(steps) = place.get() {
            return Ok(steps);
        }
        let steps = Steps::new(self, program, plan)?;
        Ok(place.get_or_init(|| steps))
    }

    /// The kernels of the target.
    ///
    /// # Errors
    /// The machine's loader refuses them; the folder that they are to be kept in takes no file.
    pub(crate) fn library(&self) -> Result<&Library, RuntimeError> {
        if let Some(library) = self.library.get() {
            return Ok(library);
        }
        let _one = self.loading.lock();
        if let Some(library) = self.library.get() {
            return Ok(library);
        }
        let name = &self.target.name;
        let object = self.file.kernels(name).ok_or_else(|| RuntimeError::Load {
            target: name.clone(),
            reason: "the archive has no such entry".into(),
        })?;
        let library = match keep::folder() {
            Some(folder) => {
                let kept = keep::keep(&folder, &self.file, name, object);
                Library::load_file(name, &kept.map_err(|error| RuntimeError::Keep(Box::new(error)))?)?
            }
            None => Library::load(name, object)?,
        };
        Ok(self.library.get_or_init(|| library))
    }
}

impl Bundle {
    /// Opens a file and chooses the best target that this machine can run. Its kernels are loaded for the first run.
    ///
    /// # Errors
    /// The file is not a bundle; no target fits.
    pub fn open(path: &Path) -> Result<Self, RuntimeError> {
        Self::load(tiga_bundle::Bundle::open(path)?)
    }

    /// The same from memory.
    ///
    /// # Errors
    /// As [`Bundle::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, RuntimeError> {
        Self::load(tiga_bundle::Bundle::from_bytes(bytes)?)
    }

    /// A bundle whose kernels are a part of the program, by the names that the bundle has for them. Nothing is loaded.
    ///
    /// # Safety
    /// The functions are the kernels that were compiled with this very bundle.
    ///
    /// # Errors
    /// The bytes are no bundle; the machine lacks what the kernels need; a kernel is not there.
    pub unsafe fn from_linked(bytes: Vec<u8>, kernels: BTreeMap<String, KernelFn>) -> Result<Self, RuntimeError> {
        let file = tiga_bundle::Bundle::from_bytes(bytes)?;
        let target = choose(file.manifest())?;
        let variants = file.manifest().kernels.iter().flat_map(|kernel| &kernel.variants);
        if let Some(variant) = variants.into_iter().find(|variant| !kernels.contains_key(&variant.entry)) {
            let reason = format!("the program is not linked with `{}`", variant.entry);
            return Err(RuntimeError::Load { target: target.name, reason });
        }
        let library = OnceLock::from(Library::Linked(kernels));
        Ok(Self { inner: Arc::new(Loaded::new(Arc::new(file), target, library)) })
    }

    fn load(file: tiga_bundle::Bundle) -> Result<Self, RuntimeError> {
        let target = choose(file.manifest())?;
        Ok(Self { inner: Arc::new(Loaded::new(Arc::new(file), target, OnceLock::new())) })
    }

    /// The same bundle with the kernels of one of its targets instead of the best that this machine can run.
    ///
    /// # Errors
    /// The bundle has no such target; the machine lacks what its kernels need.
    pub fn with_target(&self, name: &str) -> Result<Self, RuntimeError> {
        let targets = &self.manifest().targets;
        let Some(target) = targets.iter().find(|target| target.name == name) else {
            let available = list(targets.iter().map(|target| target.name.as_str()));
            return Err(RuntimeError::TargetAbsent { found: name.into(), available });
        };
        let lacking = lacking(target);
        if !lacking.is_empty() {
            return Err(RuntimeError::TargetUnfit { target: name.into(), missing: lacking.join(", ") });
        }
        if *target == self.inner.target {
            return Ok(self.clone());
        }
        let loaded = Loaded::new(Arc::clone(&self.inner.file), target.clone(), OnceLock::new());
        Ok(Self { inner: Arc::new(loaded) })
    }

    /// What the bundle says of itself.
    pub fn manifest(&self) -> &Manifest {
        self.inner.file.manifest()
    }

    /// The target whose kernels run.
    pub fn target(&self) -> &str {
        &self.inner.target.name
    }

    /// Begins a call of a program.
    ///
    /// # Errors
    /// No such program.
    pub fn call(&self, program: &str) -> Result<Call<'_>, RuntimeError> {
        let found = &self.manifest().programs[self.number(program)?];
        Ok(Call::new(self, found, self.plan(found)?))
    }

    /// Prepares a program for runs on contexts of as many threads as this one has, or fewer. `sizes` are the largest
    /// value of each of its sizes, by name: sets, dimensions, and edges as a graph's name with `.edges` behind
    /// ([`Manifest`] lists them). Memory is asked for now, of the context's allocator if it has one.
    ///
    /// # Errors
    /// No such program or size; a size without value; the kernels cannot be loaded; the plan cannot run here; memory is
    /// short.
    pub fn prepare(&self, program: &str, sizes: &[(&str, i64)], context: &Context) -> Result<Prepared, RuntimeError> {
        Prepared::new(self, self.number(program)?, sizes, context)
    }

    /// The number of a program.
    fn number(&self, program: &str) -> Result<usize, RuntimeError> {
        let programs = &self.manifest().programs;
        programs.iter().position(|other| other.name == program).ok_or_else(|| RuntimeError::NoProgram {
            found: program.into(),
            available: list(programs.iter().map(|p| p.name.as_str())),
        })
    }

    pub(crate) fn plan(&self, program: &Program) -> Result<&Template, RuntimeError> {
        self.inner.file.plan(&program.name).ok_or_else(|| RuntimeError::Plan {
            program: program.name.clone(),
            reason: PlanProblem::Part(program.plan.clone()),
        })
    }
}

/// Names for a message.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|n| format!("`{n}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// The last target in the bundle (they are listed from the least to the most demanding) that this machine can run.
fn choose(manifest: &Manifest) -> Result<Target, RuntimeError> {
    let mut missing = String::new();
    for target in manifest.targets.iter().rev() {
        let lacking = lacking(target);
        if lacking.is_empty() {
            return Ok(target.clone());
        }
        missing = lacking.join(", ");
    }
    let available = list(manifest.targets.iter().map(|t| t.name.as_str()));
    Err(RuntimeError::NoTarget { available, missing })
}

/// The features that kernels need and this machine lacks.
fn lacking(target: &Target) -> Vec<&str> {
    target.features.iter().map(String::as_str).filter(|f| !crate::library::has_feature(f)).collect()
}
