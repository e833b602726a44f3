//! Rules about the WIT package.

use std::fs;

use backburner_tests::workspace;
use wit_parser::{
    Docs, Function, FunctionKind, Interface, PackageId, Resolve, Type, TypeDef, TypeDefKind,
    WorldItem,
};

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

/// What of a contract some language's bindings cannot take: resources, all that is asynchronous, and contexts of errors.
fn unbindable(resolve: &Resolve) -> Vec<String> {
    let types = resolve.types.iter().filter_map(|(_, definition)| {
        let name = definition.name.as_deref().unwrap_or("(unnamed)");
        unbindable_kind(&definition.kind).map(|what| format!("{what} {name}"))
    });
    let functions = functions(resolve).into_iter().flat_map(|function| {
        let is_plain = matches!(function.kind, FunctionKind::Freestanding);
        let kind = (!is_plain).then(|| format!("{} {}", kind_of(function), function.name));
        let types: Vec<Type> = function.parameter_and_result_types().collect();
        let context = unbindable_type(&types).map(|what| format!("{what} in {}", function.name));
        [kind, context].into_iter().flatten()
    });
    types.chain(functions).collect()
}

/// The functions of all interfaces and worlds.
fn functions(resolve: &Resolve) -> Vec<&Function> {
    let interfaces = resolve.interfaces.iter();
    let of_interfaces = interfaces.flat_map(|(_, interface)| interface.functions.values());
    let worlds = resolve.worlds.iter();
    let items = worlds.flat_map(|(_, world)| world.imports.values().chain(world.exports.values()));
    let of_worlds = items.filter_map(|item| match item {
        WorldItem::Function(function) => Some(function),
        _ => None,
    });
    of_interfaces.chain(of_worlds).collect()
}

fn kind_of(function: &Function) -> &'static str {
    if function.kind.is_async() {
        "async function"
    } else {
        "function of a resource"
    }
}

fn unbindable_kind(kind: &TypeDefKind) -> Option<&'static str> {
    let is_wrong = matches!(
        kind,
        TypeDefKind::Resource
            | TypeDefKind::Handle(_)
            | TypeDefKind::Future(_)
            | TypeDefKind::Stream(_)
    );
    if is_wrong {
        return Some(kind.as_str());
    }
    unbindable_type(&parts(kind))
}

fn unbindable_type(types: &[Type]) -> Option<&'static str> {
    types
        .contains(&Type::ErrorContext)
        .then_some("error-context")
}

/// The types that a type is made of.
fn parts(kind: &TypeDefKind) -> Vec<Type> {
    match kind {
        TypeDefKind::Record(record) => record.fields.iter().map(|it| it.ty).collect(),
        TypeDefKind::Tuple(tuple) => tuple.types.clone(),
        TypeDefKind::Variant(variant) => variant.cases.iter().filter_map(|it| it.ty).collect(),
        TypeDefKind::Result(result) => result.ok.into_iter().chain(result.err).collect(),
        TypeDefKind::Map(key, value) => vec![*key, *value],
        TypeDefKind::Option(part)
        | TypeDefKind::List(part)
        | TypeDefKind::FixedLengthList(part, _)
        | TypeDefKind::Type(part) => vec![*part],
        _ => Vec::new(),
    }
}

#[test]
fn there_is_nothing_that_some_language_cannot_bind() {
    let (resolve, _) = package();
    assert!(
        !functions(&resolve).is_empty(),
        "this rule looks at nothing"
    );
    assert_none(
        "no resource, nothing asynchronous and no context of an error is in the contract",
        &unbindable(&resolve),
    );
}

#[test]
fn all_that_some_language_cannot_bind_is_found() {
    let found = |items: &str| {
        let mut resolve = Resolve::default();
        let text = format!("package a:b@0.1.0;\n{items}\n");
        resolve
            .push_source("a.wit", &text)
            .unwrap_or_else(|error| panic!("{items}: {error:#}"));
        unbindable(&resolve).join(", ")
    };
    let inside = |item: &str| found(&format!("interface c {{ {item} }}"));
    assert_eq!(
        inside("record r { x: list<u8> } f: func(x: r) -> result<option<r>, string>;"),
        ""
    );
    for (item, words) in [
        ("f: async func(x: u8) -> u8;", "async function f"),
        ("resource r { }", "resource r"),
        ("resource r { f: func(); }", "function of a resource"),
        ("resource r { f: async func(); }", "async function"),
        ("resource r { f: static func(); }", "function of a resource"),
        ("resource r { constructor(); }", "function of a resource"),
        ("resource r { } f: func(x: borrow<r>);", "borrow"),
        ("resource r { } f: func() -> r;", "own"),
        ("f: func(x: stream<u8>);", "stream"),
        ("f: func() -> future<u8>;", "future"),
        ("record q { x: option<stream<u8>> }", "stream"),
        ("f: func(x: error-context);", "error-context in f"),
        ("f: func() -> error-context;", "error-context in f"),
        ("record q { x: error-context }", "error-context q"),
        ("variant q { x(error-context) }", "error-context q"),
        ("type q = list<error-context>;", "error-context"),
        ("f: func() -> result<u8, error-context>;", "error-context"),
        ("f: func() -> tuple<u8, error-context>;", "error-context"),
    ] {
        let found = inside(item);
        assert!(found.contains(words), "{item}: {found}");
    }
    for item in ["import f: async func();", "export f: async func();"] {
        let found = found(&format!("world c {{ {item} }}"));
        assert_eq!(found, "async function f", "{item}");
    }
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
