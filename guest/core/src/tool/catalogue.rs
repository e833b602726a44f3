//! All tools of a server: `run` unless it is switched off, then those of the configuration in its order.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::configured::{Tool, Verbatim};
use super::run::{self, Policy};
use super::{Mode, Terminals};
use crate::config::{ConfigError, Members, Node};

/// What can be called.
#[derive(Debug)]
pub(crate) struct Catalogue {
    /// What holds for `run`; `None` where it is switched off.
    pub(crate) run: Option<Policy>,
    tools: Vec<Tool>,
    places: BTreeMap<String, usize>,
}

impl Default for Catalogue {
    /// `run` and nothing else.
    fn default() -> Self {
        Self {
            run: Some(Policy::default()),
            tools: Vec::new(),
            places: BTreeMap::new(),
        }
    }
}

/// The parts of a configuration that are listed as they were written.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    tools: Vec<WrittenTool<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenTool<'a> {
    #[serde(default, borrow)]
    input_schema: Option<&'a RawValue>,
    #[serde(default, borrow)]
    output_schema: Option<&'a RawValue>,
}

impl Catalogue {
    /// Reads `run`, `tools`, `terminals`, `baseDirectory` and `configurationFile`; `text` is the whole configuration
    /// as it was written.
    ///
    /// # Errors
    /// Where something in them is wrong.
    pub(crate) fn read(members: &Members<'_>, text: &str) -> Result<Self, ConfigError> {
        let base = members.optional("baseDirectory", Node::absolute_path)?;
        let file = members.optional("configurationFile", Node::line)?;
        let terminals = Terminals::read(members)?;
        let run = match members.get("run") {
            None => Some(Policy::default().of(file)),
            Some(node) => Policy::read(&node, base, file)?,
        };
        let mut catalogue = Self {
            run: run.map(|policy| policy.with(terminals)),
            tools: Vec::new(),
            places: BTreeMap::new(),
        };
        if let Some(node) = members.get("tools") {
            catalogue.read_tools(&node, text, (base, terminals))?;
        }
        Ok(catalogue)
    }

    fn read_tools(
        &mut self,
        node: &Node<'_>,
        text: &str,
        (base, terminals): (Option<&str>, Terminals),
    ) -> Result<(), ConfigError> {
        // It was read as JSON before; what is no table is refused below, with its place.
        let written: Option<Written<'_>> = serde_json::from_str(text).ok();
        for (place, node) in node.items()?.iter().enumerate() {
            let verbatim = written
                .as_ref()
                .and_then(|written| written.tools.get(place));
            let verbatim = verbatim.map(|tool| Verbatim {
                input: tool.input_schema,
                output: tool.output_schema,
            });
            let tool = Tool::read(node, verbatim.unwrap_or_default(), base)?;
            if let Some(reason) = lack(terminals).filter(|_| tool.is_interactive()) {
                return Err(node.error_below("/interactive", reason));
            }
            if self.run.is_some() && tool.name == "run" {
                return Err(
                    node.error_below("/name", "is taken: the tool `run` is not switched off")
                );
            }
            if self.places.insert(tool.name.clone(), place).is_some() {
                return Err(
                    node.error_below("/name", "is taken: another tool before it has the same")
                );
            }
            self.tools.push(tool);
        }
        Ok(())
    }

    /// The configured tool of this name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(*self.places.get(name)?)
    }

    /// Whether calls of the configured tool of this name are answered with a task; as those of `run` where there is no
    /// such tool any more.
    pub(crate) fn mode(&self, tool: Option<&str>) -> Mode {
        let tool = tool.and_then(|name| self.tool(name));
        tool.map_or(Mode::Auto, |tool| tool.mode)
    }

    /// The names of all tools, in the order of the list.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let run = self.run.as_ref().map(|_| "run");
        let others = self.tools.iter().map(|tool| tool.name.as_str());
        run.into_iter().chain(others)
    }

    /// All tools as they are listed.
    pub(crate) fn definitions(&self) -> Vec<Box<RawValue>> {
        let run = self.run.as_ref();
        let run = run.map(|policy| super::raw(&run::definition(policy)));
        let others = self.tools.iter().map(|tool| tool.definition.clone());
        run.into_iter().chain(others).collect()
    }
}

/// Why there is no terminal; `None` where there is.
fn lack(terminals: Terminals) -> Option<&'static str> {
    match terminals {
        Terminals::There => None,
        Terminals::Off => Some("needs a terminal, and `terminals` is false"),
        Terminals::Lacking => Some("needs a terminal, which this host does not have"),
    }
}
