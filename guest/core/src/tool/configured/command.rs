//! What a configured tool runs, and how the arguments of a call reach it: as words of an argument vector, as variables,
//! or as standard input. There is no way from an argument into the text of a shell.

use serde_json::Value;

use super::template::Template;
use crate::config::{ConfigError, Members, Node};
use crate::imports::Command;
use crate::text::absolute;
use crate::tool::given::Given;
use crate::tool::limits::{STRING_BYTES, VARIABLES};

/// What a call of the tool runs.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    command: Words,
    environment: Vec<(String, Template)>,
    stdin: Option<Template>,
    /// Whether it has a terminal.
    pub(super) interactive: bool,
    /// The working directory, an absolute path; `None` for the server's own.
    pub(super) directory: Option<String>,
}

/// What becomes of a recipe with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub(super) command: Command,
    pub(super) environment: Vec<(String, String)>,
    pub(super) stdin: String,
}

#[derive(Clone, Debug)]
enum Words {
    /// A line for the host's shell, in which nothing is ever replaced.
    Shell(String),
    /// A program, and what makes its arguments.
    Program(String, Vec<Element>),
}

/// Words that are there or not as a whole.
#[derive(Clone, Debug)]
struct Element(Vec<Template>);

/// What a recipe is read with.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    /// What a relative path begins at.
    pub(super) base: Option<&'a str>,
    /// The names of the arguments that a template may have.
    pub(super) known: &'a [String],
}

impl Reading<'_> {
    /// A template at this node.
    ///
    /// # Errors
    /// Where it is none.
    pub(super) fn template(&self, node: &Node<'_>) -> Result<Template, ConfigError> {
        Template::parse(node.text()?, |name| self.known.iter().any(|it| it == name))
            .map_err(|reason| node.error(reason))
    }
}

impl Recipe {
    /// Reads the members that say what is run.
    ///
    /// # Errors
    /// Where one of them is wrong, or there is not exactly one of `program` and `shell`.
    pub(super) fn read(tool: &Members<'_>, reading: Reading<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            command: words(tool, reading)?,
            environment: match tool.get("env") {
                Some(node) => environment(&node, reading)?,
                None => Vec::new(),
            },
            stdin: tool.optional("stdin", |node| reading.template(node))?,
            interactive: tool.optional("interactive", Node::switch)?.unwrap_or(false),
            directory: tool.optional("cwd", |node| node.path(reading.base))?,
        })
    }

    /// What is run for these arguments.
    ///
    /// # Errors
    /// In words for the model: what cannot be given to a program.
    pub(super) fn prepare(&self, arguments: &Given) -> Result<Prepared, String> {
        let stdin = self.stdin.as_ref();
        let stdin = stdin.and_then(|template| template.render(arguments));
        Ok(Prepared {
            command: self.command.prepare(arguments)?,
            environment: self.variables(arguments)?,
            stdin: stdin.unwrap_or_default(),
        })
    }

    fn variables(&self, arguments: &Given) -> Result<Vec<(String, String)>, String> {
        let mut variables = Vec::new();
        for (name, template) in &self.environment {
            if let Some(value) = template.render(arguments) {
                check(&value, name.len() + 1, template)?;
                variables.push((name.clone(), value));
            }
        }
        Ok(variables)
    }
}

impl Words {
    fn prepare(&self, arguments: &Given) -> Result<Command, String> {
        let (program, elements) = match self {
            Self::Shell(line) => return Ok(Command::Shell(line.clone())),
            Self::Program(program, elements) => (program, elements),
        };
        let mut words = vec![program.clone()];
        for element in elements {
            words.extend(element.prepare(arguments)?);
        }
        Ok(Command::Program(words))
    }
}

impl Element {
    fn prepare(&self, arguments: &Given) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        for template in &self.0 {
            let Some(made) = made(template, arguments) else {
                return Ok(Vec::new());
            };
            for word in &made {
                check(word, 0, template)?;
            }
            words.extend(made);
        }
        Ok(words)
    }
}

/// The words that a template makes, one but for a list; `None` where an argument in it is absent.
fn made(template: &Template, arguments: &Given) -> Option<Vec<String>> {
    let list = template
        .only_argument()
        .and_then(|name| arguments.items(name));
    if list.is_some() {
        return list;
    }
    Some(vec![template.render(arguments)?])
}

/// What the operating system takes. `others` is how many bytes stand beside the text in the same string.
fn check(text: &str, others: usize, template: &Template) -> Result<(), String> {
    let names: Vec<&str> = template.arguments().collect();
    let subject = match names.as_slice() {
        [] => "what is made of the arguments".to_owned(),
        names => format!("`{}`", names.join("` with `")),
    };
    if text.contains('\0') {
        return Err(format!(
            "{subject} has a NUL character, it has to be text without one"
        ));
    }
    let bytes = text.len() + others;
    if bytes > STRING_BYTES {
        return Err(format!(
            "{subject} is {bytes} bytes long, it has to be at most {STRING_BYTES}"
        ));
    }
    Ok(())
}

fn words(tool: &Members<'_>, reading: Reading<'_>) -> Result<Words, ConfigError> {
    match (tool.get("program"), tool.get("shell")) {
        (Some(program), None) => program_words(&program, reading),
        (None, Some(line)) => Ok(Words::Shell(line.words()?.to_owned())),
        (Some(_), Some(line)) => {
            Err(line.error("there is a `program` too: a tool has one of them"))
        }
        (None, None) => {
            Err(tool.error_here("has neither `program` nor `shell`: it needs one of them"))
        }
    }
}

fn program_words(node: &Node<'_>, reading: Reading<'_>) -> Result<Words, ConfigError> {
    let items = node.items()?;
    let Some((first, rest)) = items.split_first() else {
        return Err(node.error("has to begin with a program"));
    };
    let program = first.words()?;
    let literal = reading.template(first)?;
    let Some(program) = literal.literal().filter(|_| !program.is_empty()) else {
        return Err(first.error(
            "is the program itself, which no argument decides: it may not have a `{name}`",
        ));
    };
    let elements = rest.iter().map(|item| element(item, reading));
    Ok(Words::Program(
        found(first, program, reading)?,
        elements.collect::<Result<_, _>>()?,
    ))
}

/// A program by its name, which is looked up in `PATH`, or by its path.
fn found(node: &Node<'_>, program: &str, reading: Reading<'_>) -> Result<String, ConfigError> {
    if !program.contains('/') {
        return Ok(program.to_owned());
    }
    absolute(reading.base, program).ok_or_else(|| {
        node.error("has to be an absolute path or a name, since there is no `baseDirectory` for a relative path")
    })
}

fn element(node: &Node<'_>, reading: Reading<'_>) -> Result<Element, ConfigError> {
    match node.value() {
        Value::Array(_) => {
            let templates = node.items()?;
            let templates = templates.iter().map(|item| reading.template(item));
            templates.collect::<Result<_, _>>().map(Element)
        }
        Value::String(_) => Ok(Element(vec![reading.template(node)?])),
        _ => {
            Err(node.error("has to be a string, or an array of strings that are left out together"))
        }
    }
}

fn environment(
    node: &Node<'_>,
    reading: Reading<'_>,
) -> Result<Vec<(String, Template)>, ConfigError> {
    let mut variables = Vec::new();
    for (name, node) in node.any_members()?.all() {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(node.error("the name of a variable may not be empty or contain `=` or NUL"));
        }
        variables.push((name.to_owned(), reading.template(&node)?));
    }
    if variables.len() > VARIABLES {
        return Err(node.error(format!("has to be at most {VARIABLES} variables")));
    }
    Ok(variables)
}
