//! A Vulkan driver on a machine that has none.
//!
//! Only Linux needs this: macOS and Windows bring Metal and Direct3D 12. A software driver counts; one for a card counts only
//! where there is a card. Nothing is installed unless apt-get is there and needs no password.

use crate::{quietly, run};
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGES: [&str; 2] = ["libvulkan1", "mesa-vulkan-drivers"];

/// Installs Mesa's software driver if no driver is found and it may; else says what to install.
pub fn ensure() {
    if !cfg!(target_os = "linux") || found() {
        return;
    }
    eprintln!("xtask: no Vulkan driver found");
    if let Err(reason) = install(&PACKAGES) {
        eprintln!(
            "xtask: {reason}; install a driver, for a software one {} (Debian, Ubuntu), mesa-vulkan-drivers and \
             vulkan-loader (Fedora), or vulkan-swrast and vulkan-icd-loader (Arch)",
            PACKAGES.join(" and ")
        );
    }
}

fn found() -> bool {
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].into_iter().any(|name| std::env::var_os(name).is_some());
    let drivers = driver_files();
    let software = drivers.iter().any(|name| name.starts_with("lvp_icd"));
    let card = ["/dev/dri", "/dev/nvidia0", "/dev/dxg"].into_iter().any(|path| Path::new(path).exists());
    has_loader() && (named || software || (card && !drivers.is_empty()))
}

/// Names of the manifests in the folders that the Vulkan loader searches.
fn driver_files() -> Vec<String> {
    let folders = ["/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share/vulkan/icd.d"));
    let files = folders.into_iter().map(PathBuf::from).chain(home).filter_map(|folder| folder.read_dir().ok());
    files.flatten().flatten().map(|file| file.file_name().to_string_lossy().into_owned()).collect()
}

fn has_loader() -> bool {
    let listed = ["ldconfig", "/sbin/ldconfig"]
        .into_iter()
        .find_map(|program| Command::new(program).arg("-p").output().ok().filter(|output| output.status.success()));
    // Without a list (NixOS, for one) the loader may be anywhere: the program itself will tell.
    listed.is_none_or(|output| String::from_utf8_lossy(&output.stdout).contains("libvulkan.so.1"))
}

/// Installs packages of Debian or Ubuntu, if that needs no password.
pub fn install(packages: &[&str]) -> Result<(), String> {
    if !quietly(Command::new("apt-get").arg("--version")) {
        return Err("there is no apt-get here".into());
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    if !root && !quietly(Command::new("sudo").args(["-n", "true"])) {
        return Err("installing needs root, and sudo asks for a password".into());
    }
    let apt = |args: &[&str]| {
        let mut command = Command::new(if root { "env" } else { "sudo" });
        command.args(if root { &[][..] } else { &["-n", "env"][..] });
        run(command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]).args(args))
    };
    // An old package list may still do; only the installation decides.
    let updated = apt(&["update"]);
    let install = [&["install", "--yes", "--no-install-recommends"][..], packages].concat();
    apt(&install).map_err(|error| updated.err().unwrap_or(error))
}
