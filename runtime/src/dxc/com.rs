//! DXC's COM interfaces, as far as they are needed: five methods by their place in the table.
//!
//! An object is a pointer to a pointer to a table of functions, whose first three are `IUnknown`'s: query, add a reference,
//! release. Every object that is handed out here is released once, when its [`Object`] is dropped. Everything unsafe about DXC
//! is in this file.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

#[repr(C)]
struct Guid(u32, u16, u16, [u8; 8]);

const CLSID_COMPILER: Guid = Guid(0x73e2_2d93, 0xe6ce, 0x47f3, [0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0]);
const IID_COMPILER3: Guid = Guid(0x228b_4687, 0x5a6a, 0x4730, [0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54]);
const IID_RESULT: Guid = Guid(0x5834_6cda, 0xdde7, 0x4497, [0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59]);
const IID_BLOB: Guid = Guid(0x8ba5_fb08, 0x5195, 0x40e2, [0xac, 0x58, 0x0d, 0x98, 0x9c, 0x3a, 0x01, 0x02]);
const IID_VERSION: Guid = Guid(0xb04f_5b50, 0x2059, 0x4f12, [0xa8, 0xff, 0xa1, 0xe0, 0xcd, 0xe1, 0xcc, 0x7e]);

/// `HRESULT`: negative is a failure.
type Status = i32;
type Out = *mut *mut c_void;
type Create = unsafe extern "system" fn(*const Guid, *const Guid, Out) -> Status;
type Query = unsafe extern "system" fn(*mut c_void, *const Guid, Out) -> Status;
type Release = unsafe extern "system" fn(*mut c_void) -> u32;
type GetVersion = unsafe extern "system" fn(*mut c_void, *mut u32, *mut u32) -> Status;
type Compile = unsafe extern "system" fn(
    *mut c_void,
    *const Text,
    *const *const Wide,
    u32,
    *mut c_void,
    *const Guid,
    Out,
) -> Status;
type Disassemble = unsafe extern "system" fn(*mut c_void, *const Text, *const Guid, Out) -> Status;
type GetStatus = unsafe extern "system" fn(*mut c_void, *mut Status) -> Status;
type GetOutput = unsafe extern "system" fn(*mut c_void, u32, *const Guid, Out, Out) -> Status;
type Pointer = unsafe extern "system" fn(*mut c_void) -> *const u8;
type Size = unsafe extern "system" fn(*mut c_void) -> usize;

/// Places in the tables, after `IUnknown`'s three.
const QUERY: usize = 0;
const RELEASE: usize = 2;
const FIRST: usize = 3;
const SECOND: usize = 4;
const GET_OUTPUT: usize = 7;

/// `DXC_OUT_KIND`.
const OUT_OBJECT: u32 = 1;
const OUT_ERRORS: u32 = 2;
const OUT_DISASSEMBLY: u32 = 5;

/// `DxcBuffer`.
#[repr(C)]
struct Text {
    pointer: *const u8,
    bytes: usize,
    encoding: u32,
}

const UTF8: u32 = 65001;
const BINARY: u32 = 0;

/// `wchar_t`.
#[cfg(windows)]
type Wide = u16;
#[cfg(not(windows))]
type Wide = u32;

fn wide(text: &str) -> Vec<Wide> {
    #[cfg(windows)]
    let units = text.encode_utf16();
    #[cfg(not(windows))]
    let units = text.chars().map(u32::from);
    units.chain([0]).collect()
}

/// A reference to a COM object.
struct Object(NonNull<c_void>);

impl Object {
    /// Takes over what `make` writes to its argument.
    fn made(what: &str, make: impl FnOnce(Out) -> Status) -> Result<Object, String> {
        let mut pointer = null_mut();
        let status = make(&mut pointer);
        match NonNull::new(pointer) {
            Some(pointer) if status >= 0 => Ok(Object(pointer)),
            _ if status >= 0 => Err(format!("{what} gives no object")),
            _ => Err(format!("{what} gives {status:#010x}")),
        }
    }

    /// A method by its place.
    ///
    /// # Safety
    /// `F` is the type of that method of the interface that this object was asked for.
    unsafe fn method<F: Copy>(&self, place: usize) -> F {
        // SAFETY: a COM object begins with a pointer to its table of functions, and the caller vouches for the function's type.
        unsafe {
            let table = *self.0.as_ptr().cast::<*const *const c_void>();
            std::mem::transmute_copy(&*table.add(place))
        }
    }

    fn this(&self) -> *mut c_void {
        self.0.as_ptr()
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: every interface has `IUnknown`'s `Release` here, and this reference is given up once.
        unsafe { self.method::<Release>(RELEASE)(self.this()) };
    }
}

/// The loaded library, which stays loaded: what DXC keeps for each thread outlives every handle.
pub(super) struct Library {
    create: Create,
    _handle: ManuallyDrop<libloading::Library>,
}

/// What a compilation gave.
pub(super) struct Done {
    pub(super) succeeded: bool,
    pub(super) object: Option<Vec<u8>>,
    pub(super) messages: String,
}

/// `IDxcCompiler3`, for one thread.
pub(super) struct Compiler<'a> {
    object: Object,
    _library: &'a Library,
}

impl Library {
    /// The library in a file; `None` if it is not DXC.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, String> {
        // SAFETY: loading runs the library's own initialisers; the user chose the file, as one chooses a program to run.
        let handle = unsafe { libloading::Library::new(path) }.map_err(|e| reason(&e))?;
        // SAFETY: the function of this name has this type in every version of `dxcapi.h`.
        match unsafe { handle.get::<Create>(b"DxcCreateInstance\0") } {
            Ok(create) => Ok(Some(Library { create: *create, _handle: ManuallyDrop::new(handle) })),
            Err(_) => Ok(None),
        }
    }

    pub(super) fn compiler(&self) -> Result<Compiler<'_>, String> {
        Ok(Compiler { object: self.instance()?, _library: self })
    }

    fn instance(&self) -> Result<Object, String> {
        // SAFETY: both identifiers are valid, and the function writes an object of that interface, or nothing and a failure.
        Object::made("its compiler", |out| unsafe { (self.create)(&CLSID_COMPILER, &IID_COMPILER3, out) })
    }

    /// The version, if it tells one.
    pub(super) fn version(&self) -> Result<Option<(u32, u32)>, String> {
        let compiler = self.instance()?;
        // SAFETY: `QueryInterface` is in its place in every version.
        let query = unsafe { compiler.method::<Query>(QUERY) };
        // SAFETY: as for `instance`.
        let Ok(info) = Object::made("", |out| unsafe { query(compiler.this(), &IID_VERSION, out) }) else {
            return Ok(None);
        };
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the method writes two numbers. Outside Windows, versions before 1.7.2308 have their destructor in this place,
        // which reads no argument and writes none.
        unsafe { info.method::<GetVersion>(FIRST)(info.this(), &mut major, &mut minor) };
        if (major, minor) == (0, 0) {
            // Both names are of one object that may just have been destroyed.
            std::mem::forget((info, compiler));
            return Ok(None);
        }
        Ok(Some((major, minor)))
    }
}

impl Compiler<'_> {
    pub(super) fn compile(&self, hlsl: &str, args: &[&str]) -> Result<Done, String> {
        let text = Text { pointer: hlsl.as_ptr(), bytes: hlsl.len(), encoding: UTF8 };
        let args: Vec<Vec<Wide>> = args.iter().map(|a| wide(a)).collect();
        let args: Vec<*const Wide> = args.iter().map(|a| a.as_ptr()).collect();
        // SAFETY: the text and the arguments live until the call ends; no include handler is needed, since no text includes any.
        let result = Object::made("its compiler", |out| unsafe {
            let compile = self.object.method::<Compile>(FIRST);
            compile(self.object.this(), &text, args.as_ptr(), args.len() as u32, null_mut(), &IID_RESULT, out)
        })?;
        let mut status = -1;
        // SAFETY: the method writes one number.
        unsafe { result.method::<GetStatus>(FIRST)(result.this(), &mut status) };
        let messages = output(&result, OUT_ERRORS).unwrap_or_default();
        Ok(Done {
            succeeded: status >= 0,
            object: output(&result, OUT_OBJECT).filter(|bytes| !bytes.is_empty()),
            messages: String::from_utf8_lossy(&messages).trim_end_matches('\0').to_owned(),
        })
    }

    pub(super) fn disassemble(&self, dxil: &[u8]) -> Result<Vec<u8>, String> {
        let text = Text { pointer: dxil.as_ptr(), bytes: dxil.len(), encoding: BINARY };
        // SAFETY: the bytes live until the call ends.
        let result = Object::made("its disassembler", |out| unsafe {
            self.object.method::<Disassemble>(SECOND)(self.object.this(), &text, &IID_RESULT, out)
        })?;
        let mut bytes = output(&result, OUT_DISASSEMBLY).ok_or("its disassembler gives no text")?;
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(bytes)
    }
}

/// The bytes of an output, if the result has it.
fn output(result: &Object, kind: u32) -> Option<Vec<u8>> {
    // SAFETY: the method writes a blob or nothing; no name is asked for.
    let blob = Object::made("", |out| unsafe {
        result.method::<GetOutput>(GET_OUTPUT)(result.this(), kind, &IID_BLOB, out, null_mut())
    });
    let blob = blob.ok()?;
    // SAFETY: the blob owns that many bytes at that address for as long as it lives.
    unsafe {
        let (pointer, size) = (blob.method::<Pointer>(FIRST)(blob.this()), blob.method::<Size>(SECOND)(blob.this()));
        match pointer.is_null() {
            true => None,
            false => Some(std::slice::from_raw_parts(pointer, size).to_vec()),
        }
    }
}

/// The system's words, which stand behind the loader's own.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
