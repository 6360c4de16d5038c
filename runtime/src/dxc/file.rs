//! Looks at a library before the system's loader does, which maps a file as its headers say: where the file ends earlier, the
//! first read beyond the end kills the program without a word, and opening a pipe waits for its other end.
//!
//! Only ELF is read (System V ABI, chapters 4 and 5: "ELF Header", "Section Header", "Program Header"), and only what lies where;
//! other systems' loaders check that themselves.

use std::fs::{File, FileType};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The least that an ELF header of 64 bits has.
const HEADER: usize = 64;
const MAGIC: [u8; 4] = *b"\x7fELF";
/// `EI_CLASS` and `EI_DATA`: 64 bits, little-endian.
const CLASS_AND_DATA: [u8; 2] = [2, 1];

/// Why a file is no library that is whole, as far as its size and headers tell.
///
/// # Errors
/// The reason, to be read after "is not a library that can be loaded here:".
pub(super) fn check(path: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(path).map_err(|e| e.to_string())?;
    if !metadata.is_file() {
        return Err(format!("it is {}, no file", kind(metadata.file_type())));
    }
    if cfg!(all(unix, not(target_vendor = "apple"))) {
        let mut file = File::open(path).map_err(|e| e.to_string())?;
        return whole(&mut file, metadata.len());
    }
    Ok(())
}

fn kind(of: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if of.is_fifo() {
            return "a pipe";
        }
        if of.is_socket() {
            return "a socket";
        }
    }
    if of.is_dir() { "a folder" } else { "a device" }
}

/// Whether an ELF file of so many bytes holds all that its headers name.
fn whole(file: &mut (impl Read + Seek), bytes: u64) -> Result<(), String> {
    let read = |e: std::io::Error| e.to_string();
    let mut header = [0; HEADER];
    let had = bytes.min(HEADER as u64) as usize;
    file.read_exact(&mut header[..had]).map_err(read)?;
    if header[..4] != MAGIC {
        return Err("it is no ELF file, as libraries are here".into());
    }
    let cut = |needed: u64| format!("it is cut off: its headers name {needed} bytes, and it has {bytes}");
    if had < HEADER {
        return Err(cut(HEADER as u64));
    }
    if header[4..6] != CLASS_AND_DATA {
        // Of another kind of machine, which the loader says.
        return Ok(());
    }
    let (programs, sections) = (long(&header, 32), long(&header, 40));
    let (program_bytes, program_count) = (short(&header, 54), short(&header, 56));
    let (section_bytes, section_count) = (short(&header, 58), short(&header, 60));
    let end = |start: u64, each: u64, count: u64| start.saturating_add(each * count);
    let program_end = end(programs, program_bytes, program_count);
    let mut needed = program_end.max(end(sections, section_bytes, section_count));
    if program_end <= bytes {
        file.seek(SeekFrom::Start(programs)).map_err(read)?;
        let mut table = vec![0; (program_bytes * program_count) as usize];
        file.read_exact(&mut table).map_err(read)?;
        for program in table.chunks_exact((program_bytes as usize).max(1)).filter(|p| p.len() >= 40) {
            needed = needed.max(long(program, 8).saturating_add(long(program, 32)));
        }
    }
    if needed > bytes { Err(cut(needed)) } else { Ok(()) }
}

fn short(bytes: &[u8], at: usize) -> u64 {
    u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    (0..8).fold(0, |value, i| value | u64::from(bytes[at + i]) << (8 * i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// An ELF file with one program of 16 bytes and one section header behind it.
    fn elf() -> Vec<u8> {
        let mut bytes = vec![0u8; HEADER + 56 + 16 + 64];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        bytes[32] = HEADER as u8;
        bytes[40] = (HEADER + 56 + 16) as u8;
        (bytes[54], bytes[56], bytes[58], bytes[60]) = (56, 1, 64, 1);
        bytes[HEADER + 8] = (HEADER + 56) as u8;
        bytes[HEADER + 32] = 16;
        bytes
    }

    fn checked(bytes: &[u8]) -> Result<(), String> {
        whole(&mut Cursor::new(bytes), bytes.len() as u64)
    }

    #[test]
    fn a_file_is_whole_or_cut_off_at_any_byte() {
        let all = elf();
        assert_eq!(checked(&all), Ok(()));
        for n in 4..all.len() {
            let told = checked(&all[..n]).unwrap_err();
            assert!(told.contains("cut off") && told.ends_with(&format!("it has {n}")), "{n}: {told}");
        }
        assert!(checked(&all[..3]).unwrap_err().contains("no ELF file"));
        assert!(checked(b"").unwrap_err().contains("no ELF file"));
    }

    #[test]
    fn programs_beyond_the_end_are_found_without_sections_and_numbers_do_not_overflow() {
        let mut stripped = elf();
        (stripped[40], stripped[60]) = (0, 0);
        stripped.truncate(HEADER + 56 + 16);
        assert_eq!(checked(&stripped), Ok(()));
        stripped[HEADER + 32] = 17;
        assert!(checked(&stripped).unwrap_err().contains("137 bytes, and it has 136"));
        stripped[HEADER + 8..HEADER + 16].fill(0xff);
        assert!(checked(&stripped).is_err());
        stripped[32..40].fill(0xff);
        assert!(checked(&stripped).is_err());
    }

    #[test]
    fn folders_and_devices_are_no_files() {
        assert_eq!(check(&std::env::temp_dir()), Err("it is a folder, no file".into()));
        if cfg!(unix) {
            assert_eq!(check(Path::new("/dev/null")), Err("it is a device, no file".into()));
        }
    }
}
