//! The program `backburner`: parses the command line and hands over.

use std::process::ExitCode;

use backburner::cli::{self, Cli, Command, ServeOptions};
use backburner::config::Source;
use backburner::jobs::supervisor::{SUPERVISE, supervise};
use backburner::{serve, transport};

fn main() -> ExitCode {
    // Before everything else: a supervisor lives as long as its job, and is to be small.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|verb| verb == SUPERVISE) {
        return supervise(arguments.next());
    }
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    cli::report(match &cli.command {
        None if transport::stdio::is_at_a_terminal() => Ok(cli::explain()),
        None => serve(&cli, &ServeOptions::default()),
        Some(Command::Serve(options)) => serve(&cli, options),
        Some(_) => cli::run(cli),
    })
}

fn serve(cli: &Cli, options: &ServeOptions) -> anyhow::Result<ExitCode> {
    serve::stdio(serve::Settings {
        data_dir: cli.data_dir.clone(),
        config: Source::find(cli.config.as_deref(), options.component_config())?,
        stdio: transport::stdio::Options {
            message_limit_bytes: options.max_message_bytes,
        },
    })?;
    Ok(ExitCode::SUCCESS)
}
