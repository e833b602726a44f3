//! What is said of the configuration is what holds.

use super::Config;

/// Where the members are listed with their defaults.
const TABLES: [(&str, &str); 2] = [
    ("server.rs", include_str!("../server.rs")),
    (
        "the README of the WIT package",
        include_str!("../../../../wit/README.md"),
    ),
];

/// The column of the default in the row of this member, without the blanks in numbers.
fn default_in(table: &str, member: &str) -> String {
    let columns = table.lines().find_map(|line| {
        let (_, row) = line.split_once('|')?;
        let columns: Vec<_> = row.split('|').map(str::trim).collect();
        (columns[0] == format!("`{member}`")).then_some(columns)
    });
    let columns = columns.unwrap_or_else(|| panic!("`{member}` has no row"));
    let is_number = |text: &&&str| {
        let mut characters = text.chars();
        !text.is_empty() && characters.all(|it| it.is_ascii_digit() || it == ' ')
    };
    let default = columns.iter().find(is_number);
    default
        .unwrap_or_else(|| panic!("no default in {columns:?}"))
        .replace(' ', "")
}

#[test]
fn the_defaults_are_those_that_are_documented() {
    let config = Config::default();
    for (name, table) in TABLES {
        for (member, default) in [
            ("syncLimitMs", config.sync_limit_ms),
            ("directLimitMs", config.direct_limit_ms),
            ("graceMs", config.grace_ms),
            ("outputLimitBytes", config.output_limit_bytes),
        ] {
            let said = default_in(table, member);
            assert_eq!(said, default.to_string(), "{member} in {name}");
        }
    }
}

#[test]
fn an_empty_configuration_is_the_default() {
    let parsed = Config::parse("{}").expect("an empty object is valid");
    assert_eq!(format!("{parsed:?}"), format!("{:?}", Config::default()));
}
