//! Rules about the WIT package.

use std::fs;

use backburner_tests::workspace;
use wit_parser::{Docs, Interface, PackageId, Resolve, TypeDef, TypeDefKind};

use super::assert_none;

const PACKAGE: &str = "backburner:server@0.1.0";

fn package() -> (Resolve, PackageId) {
    let mut resolve = Resolve::default();
    let (id, _) = resolve
        .push_dir(workspace().join("wit"))
        .expect("the WIT package is valid");
    (resolve, id)
}

#[test]
fn the_package_has_its_name_and_version() {
    let (resolve, id) = package();
    assert_eq!(resolve.packages[id].name.to_string(), PACKAGE);
}

#[test]
fn every_item_is_documented() {
    let (resolve, id) = package();
    let package = &resolve.packages[id];
    let mut problems = Vec::new();
    let mut see = |name: String, docs: &Docs| {
        if docs
            .contents
            .as_deref()
            .is_none_or(|text| text.trim().is_empty())
        {
            problems.push(name);
        }
    };
    for (name, world) in &package.worlds {
        see(name.clone(), &resolve.worlds[*world].docs);
    }
    for (name, interface) in &package.interfaces {
        let interface = &resolve.interfaces[*interface];
        see(name.clone(), &interface.docs);
        see_items(&resolve, interface, &mut see);
    }
    assert_none("every item of the contract says what it means", &problems);
}

fn see_items(resolve: &Resolve, interface: &Interface, see: &mut impl FnMut(String, &Docs)) {
    let place = interface.name.as_deref().unwrap_or_default();
    for (name, function) in &interface.functions {
        see(format!("{place}.{name}"), &function.docs);
    }
    for (name, id) in &interface.types {
        let definition = &resolve.types[*id];
        // What `use` brings in is documented where it is.
        if !is_imported(resolve, definition) {
            see(format!("{place}.{name}"), &definition.docs);
            see_parts(&format!("{place}.{name}"), &definition.kind, see);
        }
    }
}

fn is_imported(resolve: &Resolve, definition: &TypeDef) -> bool {
    let TypeDefKind::Type(wit_parser::Type::Id(original)) = &definition.kind else {
        return false;
    };
    resolve.types[*original].owner != definition.owner
}

fn see_parts(place: &str, kind: &TypeDefKind, see: &mut impl FnMut(String, &Docs)) {
    match kind {
        TypeDefKind::Record(record) => {
            record
                .fields
                .iter()
                .for_each(|it| see(format!("{place}.{}", it.name), &it.docs));
        }
        TypeDefKind::Variant(variant) => {
            variant
                .cases
                .iter()
                .for_each(|it| see(format!("{place}.{}", it.name), &it.docs));
        }
        TypeDefKind::Enum(cases) => {
            cases
                .cases
                .iter()
                .for_each(|it| see(format!("{place}.{}", it.name), &it.docs));
        }
        TypeDefKind::Flags(flags) => {
            flags
                .flags
                .iter()
                .for_each(|it| see(format!("{place}.{}", it.name), &it.docs));
        }
        _ => {}
    }
}

#[test]
fn there_is_nothing_that_some_language_cannot_bind() {
    let (resolve, _) = package();
    let wrong = resolve.types.iter().filter(|(_, definition)| {
        matches!(
            definition.kind,
            TypeDefKind::Resource
                | TypeDefKind::Handle(_)
                | TypeDefKind::Future(_)
                | TypeDefKind::Stream(_)
        )
    });
    let problems: Vec<String> = wrong
        .map(|(_, definition)| {
            format!(
                "{} {}",
                definition.kind.as_str(),
                definition.name.as_deref().unwrap_or("(unnamed)")
            )
        })
        .collect();
    assert_none(
        "no resource, stream or future is in the contract",
        &problems,
    );
}

#[test]
fn an_interface_has_a_file_of_its_name() {
    let (resolve, id) = package();
    let mut problems = Vec::new();
    let mut interfaces: Vec<String> = Vec::new();
    for entry in fs::read_dir(workspace().join("wit")).expect("the WIT package is there") {
        let path = entry.expect("its directory can be listed").path();
        if path.extension().is_none_or(|extension| extension != "wit") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("its files can be read");
        let stem = path
            .file_stem()
            .expect("it has an extension")
            .to_string_lossy()
            .into_owned();
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("interface "))
            .filter_map(|rest| rest.split([' ', '{']).next())
            .collect();
        match names.as_slice() {
            [] if stem == "world" => {}
            [name] if name.trim_start_matches('%') == stem => interfaces.push(stem),
            other => problems.push(format!("{stem}.wit has the interfaces {other:?}")),
        }
    }
    assert_none("one interface a file, of the same name", &problems);
    assert_eq!(
        interfaces.len(),
        resolve.packages[id].interfaces.len(),
        "{interfaces:?}"
    );
}
