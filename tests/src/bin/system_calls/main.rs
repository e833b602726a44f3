//! Runs a program and follows it and all that it starts by its system calls, as a debugger does: it writes down those that
//! change what others see, and kills the program at one of them. So the shipped binary can be watched, and hit between
//! any two of its steps, without a hook in it.
//!
//! **Knows** `ptrace` and `/proc`. **Does not know** what is run, or what should happen: that is in the tests, which read
//! what is written here as [`backburner_tests::Seen`]. Linux only, which is also where the tests run that use it.
//!
//! It is a process of its own, and not a thread of a test: whoever waits for a child in a process that follows it gets
//! the news that are for the follower.

#[cfg(target_os = "linux")]
mod follower;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<std::process::ExitCode> {
    follower::run()
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("a program is followed on Linux only");
}
