//! What an instance can reach of this machine by WASI: nothing, whatever the process that it is in can.

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use wasmtime_wasi::cli::WasiCliView as _;
use wasmtime_wasi::filesystem::WasiFilesystemView as _;
use wasmtime_wasi::p2::StreamError;
use wasmtime_wasi::p2::bindings::cli::{environment, stdin};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::random::random;
use wasmtime_wasi::p2::bindings::sockets::network::IpAddressFamily;
use wasmtime_wasi::p2::bindings::sockets::{
    instance_network, ip_name_lookup, tcp_create_socket, udp_create_socket,
};
use wasmtime_wasi::random::WasiRandomView as _;
use wasmtime_wasi::sockets::WasiSocketsView as _;

use super::*;
use crate::jobs::SupervisedJobs;
use crate::store::MemoryStore;

/// The state of an instance, as the pool makes it; its jobs are in `place`.
fn state(place: &Path) -> State {
    let data = Dir::open_ambient_dir(place, ambient_authority()).expect("it was just made");
    let jobs = SupervisedJobs::open(&data, place, "/no/such/program".into());
    State::new(
        Arc::new(MemoryStore::new()),
        Arc::new(jobs.expect("an empty directory will do")),
    )
}

#[test]
fn an_instance_has_no_environment_no_arguments_no_input_and_no_directory() {
    let place = tempfile::tempdir().expect("there is room");
    let mut state = state(place.path());
    assert!(std::env::vars_os().count() > 0, "the process has some");
    let variables = environment::Host::get_environment(&mut state.cli());
    assert_eq!(variables.expect("it can be asked for").len(), 0);
    let arguments = environment::Host::get_arguments(&mut state.cli());
    assert_eq!(arguments.expect("they can be asked for").len(), 0);
    let current = environment::Host::initial_cwd(&mut state.cli());
    assert_eq!(current.expect("it can be asked for"), None);
    let directories = preopens::Host::get_directories(&mut state.filesystem());
    assert_eq!(directories.expect("they can be asked for").len(), 0);
    let input = stdin::Host::get_stdin(&mut state.cli()).expect("it can be asked for");
    let input = state.resources.get_mut(&input).expect("it is there");
    assert!(matches!(input.read(1), Err(StreamError::Closed)));
}

#[test]
fn no_two_instances_have_the_same_randomness() {
    let place = tempfile::tempdir().expect("there is room");
    let bytes = || random::Host::get_random_bytes(state(place.path()).random(), 16);
    let [first, second] = [(); 2].map(|()| bytes().expect("it can be asked for"));
    assert_eq!((first.len(), second.len()), (16, 16));
    assert_ne!(first, second);
}

/// What a future gives that waits for nothing.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("it needs nothing").block_on(future)
}

#[test]
fn an_instance_has_no_socket_and_cannot_look_up_a_name() {
    let place = tempfile::tempdir().expect("there is room");
    let mut state = state(place.path());
    for family in [IpAddressFamily::Ipv4, IpAddressFamily::Ipv6] {
        let tcp = tcp_create_socket::Host::create_tcp_socket(&mut state.sockets(), family);
        assert!(tcp.is_err(), "{family:?}");
        let mut sockets = state.sockets();
        let udp = udp_create_socket::Host::create_udp_socket(&mut sockets, family);
        assert!(at_once(udp).is_err(), "{family:?}");
    }
    let network = instance_network::Host::instance_network(&mut state.sockets());
    let network = network.expect("it can be asked for");
    let mut sockets = state.sockets();
    let found = ip_name_lookup::Host::resolve_addresses(&mut sockets, network, "localhost".into());
    assert!(found.is_err());
}
