//! DXC, the compiler of HLSL: found, opened, and asked for SPIR-V or DXIL.
//!
//! It is a library that a user brings (`libdxcompiler.so`, `dxcompiler.dll`), never a part of the build: SPIR-V is how HLSL reaches
//! Vulkan, and DXIL, whose validator is the strictest reader of HLSL there is, how texts are checked anywhere. The rule: a warning
//! is an error, and an absent, broken or old library is one clear line. Deliberately absent: signing, includes, debug
//! information. The API is that of `dxcapi.h` in Microsoft's DirectXShaderCompiler.

mod com;
mod error;
mod file;

pub use error::DxcError;

use com::{Compiler, Library};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tilewright_codegen::hlsl::Registers;

/// The library's file name on this system.
pub const DXC_FILE: &str = if cfg!(windows) { "dxcompiler.dll" } else { "libdxcompiler.so" };
/// The environment variable that may name it.
pub const DXC_VARIABLE: &str = "TILEWRIGHT_DXC";
/// The oldest version that is accepted: before it, DXC's interfaces were laid out otherwise outside Windows.
pub const OLDEST_DXC: (u32, u32) = (1, 8);

/// An opened DXC; clones are the same one, and any thread may use it.
#[derive(Clone)]
pub struct Dxc {
    library: Arc<Library>,
    path: PathBuf,
    version: (u32, u32),
}

impl fmt::Debug for Dxc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DXC {}.{} at {}", self.version.0, self.version.1, self.path.display())
    }
}

/// What DXC makes and by which rules, for both of them: wgpu's own, and every warning an error. Shader model 6.0 is the least that has
/// subgroups.
const COMMON: &[&str] = &["-T", "cs_6_0", "-HV", "2018", "-Ges", "-WX"];
/// SPIR-V for Vulkan 1.1, and nothing of one vendor alone.
const SPIRV: &[&str] = &["-spirv", "-fspv-target-env=vulkan1.1", "-fspv-extension=KHR"];
/// The macro that hands a root signature over.
const ROOT_SIGNATURE: &str = "TILEWRIGHT_ROOT_SIGNATURE";

impl Dxc {
    /// The library at `given`, else the one that [`DXC_VARIABLE`] names, else [`DXC_FILE`] beside the executable.
    ///
    /// # Errors
    /// [`DxcError::NotFound`] where nothing names one, and those of [`Dxc::open`]: a named one that is broken is not passed over.
    pub fn find(given: Option<&Path>) -> Result<Self, DxcError> {
        let named = std::env::var_os(DXC_VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(path) = given.map(PathBuf::from).or(named) {
            return Dxc::open(&path);
        }
        let executable = std::env::current_exe().ok();
        match executable.and_then(|e| Some(e.parent()?.join(DXC_FILE))).filter(|path| path.is_file()) {
            Some(path) => Dxc::open(&path),
            None => Err(DxcError::NotFound),
        }
    }

    /// Opens the library in a file.
    ///
    /// # Errors
    /// [`DxcError`]: no such file, no library, not DXC, too old, or broken.
    pub fn open(path: &Path) -> Result<Self, DxcError> {
        let path = path.to_path_buf();
        // A bare name would be searched for in the system's folders.
        let full = path.canonicalize().map_err(|e| DxcError::Missing { path: path.clone(), reason: e.to_string() })?;
        file::check(&full).map_err(|reason| DxcError::NoLibrary { path: path.clone(), reason })?;
        let library = Library::open(&full)
            .map_err(|reason| DxcError::NoLibrary { path: path.clone(), reason })?
            .ok_or_else(|| DxcError::NotDxc { path: path.clone() })?;
        let broken = |reason| DxcError::Broken { path: path.clone(), reason };
        let version = library.version().map_err(broken)?;
        match version {
            Some(version) if version >= OLDEST_DXC => Ok(Dxc { library: Arc::new(library), path, version }),
            found => Err(DxcError::TooOld { path, found }),
        }
    }

    /// Major and minor version.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The file that it was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SPIR-V words of an HLSL text, with its registers as dense binding numbers of set 0: read-only, read-write, uniform.
    ///
    /// # Errors
    /// [`DxcError::Refused`] with DXC's words, or [`DxcError::Broken`].
    pub fn spirv(&self, hlsl: &str, entry: &str, registers: Registers) -> Result<Vec<u32>, DxcError> {
        let (read, both) = (registers.read.to_string(), (registers.read + registers.write).to_string());
        let shifts = ["-fvk-t-shift", "0", "0", "-fvk-u-shift", &read, "0", "-fvk-b-shift", &both, "0"];
        let args = [&["-E", entry][..], COMMON, SPIRV, &shifts].concat();
        let bytes = self.compile(hlsl, &args)?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }

    /// A DXIL container of an HLSL text, validated with the root signature that wgpu builds for these registers. It is not signed.
    ///
    /// # Errors
    /// As [`Dxc::spirv`].
    pub fn dxil(&self, hlsl: &str, entry: &str, registers: Registers) -> Result<Vec<u8>, DxcError> {
        let signature = format!("{ROOT_SIGNATURE}=\"{}\"", registers.root_signature());
        let args = [&["-E", entry][..], COMMON, &["-D", &signature, "-rootsig-define", ROOT_SIGNATURE]].concat();
        self.compile(hlsl, &args)
    }

    /// The instructions of a DXIL container as text.
    ///
    /// # Errors
    /// [`DxcError::Broken`].
    pub fn disassemble(&self, dxil: &[u8]) -> Result<String, DxcError> {
        let compiler = self.compiler()?;
        let done = compiler.disassemble(dxil).map_err(|reason| self.broken(reason))?;
        String::from_utf8(done).map_err(|e| self.broken(e.to_string()))
    }

    fn compile(&self, hlsl: &str, args: &[&str]) -> Result<Vec<u8>, DxcError> {
        let compiler = self.compiler()?;
        let done = compiler.compile(hlsl, args).map_err(|reason| self.broken(reason))?;
        // What is no error and no warning: this library never signs.
        let messages: Vec<&str> = done.messages.lines().filter(|l| !l.contains("DXIL signing library")).collect();
        let messages = messages.join("\n").trim().to_owned();
        match done.object {
            Some(bytes) if done.succeeded && messages.is_empty() => Ok(bytes),
            _ => Err(DxcError::Refused { messages }),
        }
    }

    fn compiler(&self) -> Result<Compiler<'_>, DxcError> {
        self.library.compiler().map_err(|reason| self.broken(reason))
    }

    fn broken(&self, reason: String) -> DxcError {
        DxcError::Broken { path: self.path.clone(), reason }
    }
}
