//! The component's machine code, which is part of this program, and how it becomes executable where it lies.
//!
//! wasmtime's own way copies it, page by page, all 5.8 MB: it took a third of a server's start when they were one. Used
//! in place, only the pages that are run are ever read.

#![expect(
    unsafe_code,
    reason = "code from elsewhere has no safe form, wherever it comes from"
)]

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::mm::{MprotectFlags, mprotect};
use wasmtime::component::Component;
use wasmtime::{Config, CustomCodeMemory, Engine, Result};

use super::config;
use super::instance::{State, linker};
use crate::bindings::ServerPre;

/// The largest page that a supported processor has; the code's sections are aligned to it as well.
const PAGE_BYTES: usize = 64 * 1024;

/// What the build script compiled ahead of time.
static COMPONENT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(
    env!("OUT_DIR"),
    "/component.cwasm"
)));

/// Begins at the beginning of a page.
#[repr(align(65536))]
struct Aligned<T: ?Sized>(T);

const _: () = assert!(align_of::<Aligned<[u8; 1]>>() == PAGE_BYTES);

/// Has the engine execute code of this program in place. Elsewhere than on Linux a program's own pages cannot be relied
/// upon to become executable, and the code is copied.
fn in_place(config: &mut Config) -> &mut Config {
    if cfg!(target_os = "linux") {
        config.with_custom_code_memory(Some(Arc::new(OwnPages)));
    }
    config
}

/// The component that is part of this program, ready to make instances: once for all pools of a process, since code
/// that is used in place cannot be in two places. It is never dropped, so that nobody takes the code away from a pool.
pub(super) fn loaded() -> Result<ServerPre<State>> {
    static LOADED: Mutex<Option<ServerPre<State>>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = &*loaded {
        return Ok(server.clone());
    }
    let engine = Engine::new(in_place(&mut config::engine()))?;
    let component = component(&engine)?;
    let server = ServerPre::new(linker(&engine)?.instantiate_pre(&component)?)?;
    *loaded = Some(server.clone());
    Ok(server)
}

/// Begins to load the component while the caller does other things: a fifth of the time that a server takes to start.
///
/// Whether that succeeds is seen by who needs it, and then does it itself.
pub(crate) fn load_ahead() {
    let loading = || drop(loaded());
    let _ = thread::Builder::new().name("load".into()).spawn(loading);
}

fn component(engine: &Engine) -> Result<Component> {
    if cfg!(target_os = "linux") {
        // SAFETY: as below; and a static lives and stays as it is for as long as the process. `loaded` calls this
        // once, so no other component uses the same code, and keeps what it makes.
        unsafe { Component::deserialize_raw(engine, NonNull::from(&COMPONENT.0)) }
    } else {
        // SAFETY: the bytes were written by `Engine::precompile_component` in this crate's build script and are part
        // of this program, so they can be trusted as much as its own code; settings that do not fit are an error.
        unsafe { Component::deserialize(engine, &COMPONENT.0) }
    }
}

/// Pages of this program's own read-only data.
struct OwnPages;

impl CustomCodeMemory for OwnPages {
    fn required_alignment(&self) -> usize {
        rustix::param::page_size()
    }

    fn publish_executable(&self, code: *const u8, bytes: usize) -> Result<()> {
        protect(code, bytes, MprotectFlags::READ | MprotectFlags::EXEC)
    }

    fn unpublish_executable(&self, code: *const u8, bytes: usize) -> Result<()> {
        protect(code, bytes, MprotectFlags::READ)
    }
}

fn protect(code: *const u8, bytes: usize, flags: MprotectFlags) -> Result<()> {
    // SAFETY: wasmtime gives the text section of `COMPONENT`, which begins at the beginning of a page. Nobody writes to
    // those pages, nor to the rest of the last one, which is read-only data too, and all of them stay readable.
    unsafe { mprotect(code.cast_mut().cast::<c_void>(), bytes, flags) }?;
    Ok(())
}
