//! A package as a list of items, each with a text that is the same where, and only where, the item is.

use std::collections::BTreeMap;

use wit_parser::{
    Function, Handle, InterfaceId, Type, TypeDef, TypeDefKind, TypeId, TypeOwner, World, WorldItem,
    WorldKey,
};

use super::{Effect, Package};

/// Something that has a name in a package: an interface, a world, or what is in one.
#[derive(Debug)]
pub(super) struct Item {
    /// The name of the interface or world that it is in; `None` for these themselves.
    pub(super) parent: Option<String>,
    /// What it is: everything about it that can be noticed, so neither its docs nor where it stands.
    pub(super) text: String,
    /// What it does to the users if it appears in a parent that was there before.
    pub(super) appearing: Effect,
}

/// Which side of a world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Import,
    Export,
}

impl Package {
    /// All items, by names that are unique in the package.
    pub(super) fn items(&self) -> BTreeMap<String, Item> {
        let package = &self.resolve.packages[self.id];
        let mut items = BTreeMap::new();
        for (name, id) in &package.interfaces {
            items.insert(format!("interface {name}"), whole());
            items.extend(self.members(name, *id));
        }
        for (name, id) in &package.worlds {
            let world = &self.resolve.worlds[*id];
            items.insert(format!("world {name}"), whole());
            items.extend(self.sides(name, world));
        }
        items
    }

    fn members(&self, name: &str, id: InterfaceId) -> Vec<(String, Item)> {
        let interface = &self.resolve.interfaces[id];
        let parent = format!("interface {name}");
        // Types need nobody to supply them. A function does, unless the component itself is who does.
        let types = interface.types.iter().map(|(member, id)| {
            let definition = &self.resolve.types[*id];
            (member, self.definition(definition), Effect::Addition)
        });
        let calling = self.effect_of_a_function(id);
        let functions = interface
            .functions
            .iter()
            .map(|(member, function)| (member, self.function(function), calling));
        types
            .chain(functions)
            .map(|(member, text, appearing)| {
                let item = Item {
                    parent: Some(parent.clone()),
                    text,
                    appearing,
                };
                (format!("{name}.{member}"), item)
            })
            .collect()
    }

    /// What one more function of an interface means: nothing to hosts that only call it, and work for whoever
    /// implements it. Of an interface in no world nobody knows who does.
    fn effect_of_a_function(&self, id: InterfaceId) -> Effect {
        let package = &self.resolve.packages[self.id];
        let has = |side| {
            package
                .worlds
                .values()
                .any(|world| self.names_interface(&self.resolve.worlds[*world], side, id))
        };
        match has(Side::Export) && !has(Side::Import) {
            true => Effect::Addition,
            false => Effect::Breaking,
        }
    }

    fn names_interface(&self, world: &World, side: Side, wanted: InterfaceId) -> bool {
        let items = match side {
            Side::Import => &world.imports,
            Side::Export => &world.exports,
        };
        items
            .values()
            .any(|item| matches!(item, WorldItem::Interface { id, .. } if *id == wanted))
    }

    fn sides(&self, name: &str, world: &World) -> Vec<(String, Item)> {
        let imports = world.imports.iter().map(|it| (it, Side::Import));
        let exports = world.exports.iter().map(|it| (it, Side::Export));
        imports
            .chain(exports)
            .map(|((key, item), side)| {
                let (verb, appearing) = match (side, item) {
                    (_, WorldItem::Type { .. }) => ("type", Effect::Addition),
                    (Side::Import, _) => ("import", Effect::Breaking),
                    (Side::Export, _) => ("export", Effect::Addition),
                };
                let item = Item {
                    parent: Some(format!("world {name}")),
                    text: self.world_item(key, item),
                    appearing,
                };
                (format!("world {name}, {verb} {}", self.key(key)), item)
            })
            .collect()
    }

    fn world_item(&self, key: &WorldKey, item: &WorldItem) -> String {
        match (key, item) {
            // What is in it has items of its own, or another package has.
            (WorldKey::Interface(_), _) => String::new(),
            (_, WorldItem::Interface { id, .. }) => {
                let members = self.members("", *id);
                let texts = members
                    .iter()
                    .map(|(name, item)| format!("{name}: {}", item.text));
                let mut texts: Vec<String> = texts.collect();
                texts.sort();
                format!("interface {{ {} }}", texts.join(", "))
            }
            (_, WorldItem::Function(function)) => self.function(function),
            (_, WorldItem::Type { id, .. }) => self.definition(&self.resolve.types[*id]),
        }
    }

    fn key(&self, key: &WorldKey) -> String {
        match key {
            WorldKey::Name(name) => name.clone(),
            WorldKey::Interface(id) => self.interface(*id),
        }
    }

    /// The name of an interface; with its package and version where that is another one.
    fn interface(&self, id: InterfaceId) -> String {
        let interface = &self.resolve.interfaces[id];
        let name = interface.name.clone().unwrap_or_default();
        if interface.package == Some(self.id) {
            return name;
        }
        self.resolve.id_of(id).unwrap_or(name)
    }

    fn function(&self, function: &Function) -> String {
        let kind = match function.kind.is_async() {
            true => "async func",
            false => "func",
        };
        let parameters = function
            .params
            .iter()
            .map(|it| format!("{}: {}", it.name, self.name_of(&it.ty)));
        let parameters: Vec<String> = parameters.collect();
        let result = self.optional(function.result.as_ref());
        format!("{kind}({}) -> {result}", parameters.join(", "))
    }

    /// What a type that has a name is.
    fn definition(&self, definition: &TypeDef) -> String {
        let (kind, parts): (_, Vec<String>) = match &definition.kind {
            TypeDefKind::Record(record) => {
                let fields = record.fields.iter();
                let fields = fields.map(|it| format!("{}: {}", it.name, self.name_of(&it.ty)));
                ("record", fields.collect())
            }
            TypeDefKind::Variant(variant) => {
                let cases = variant.cases.iter();
                let cases =
                    cases.map(|it| format!("{}({})", it.name, self.optional(it.ty.as_ref())));
                ("variant", cases.collect())
            }
            TypeDefKind::Enum(cases) => {
                let names = cases.cases.iter().map(|it| it.name.clone());
                ("enum", names.collect())
            }
            TypeDefKind::Flags(flags) => {
                let names = flags.flags.iter().map(|it| it.name.clone());
                ("flags", names.collect())
            }
            other => return self.kind(other),
        };
        format!("{kind} {{ {} }}", parts.join(", "))
    }

    /// How a type is written where it is used.
    fn name_of(&self, ty: &Type) -> String {
        match ty {
            Type::Id(id) => self.name_of_id(*id),
            primitive => format!("{primitive:?}").to_lowercase(),
        }
    }

    fn name_of_id(&self, id: TypeId) -> String {
        let definition = &self.resolve.types[id];
        let Some(name) = &definition.name else {
            return self.kind(&definition.kind);
        };
        match definition.owner {
            TypeOwner::Interface(owner) => format!("{}.{name}", self.interface(owner)),
            TypeOwner::World(_) | TypeOwner::None => name.clone(),
        }
    }

    /// A type that is made of others.
    fn kind(&self, kind: &TypeDefKind) -> String {
        match kind {
            TypeDefKind::Option(ty) => format!("option<{}>", self.name_of(ty)),
            TypeDefKind::List(ty) => format!("list<{}>", self.name_of(ty)),
            TypeDefKind::FixedLengthList(ty, length) => {
                format!("list<{}, {length}>", self.name_of(ty))
            }
            TypeDefKind::Map(key, value) => {
                format!("map<{}, {}>", self.name_of(key), self.name_of(value))
            }
            TypeDefKind::Result(result) => {
                let (ok, err) = (result.ok.as_ref(), result.err.as_ref());
                format!("result<{}, {}>", self.optional(ok), self.optional(err))
            }
            TypeDefKind::Tuple(tuple) => {
                let types: Vec<String> = tuple.types.iter().map(|ty| self.name_of(ty)).collect();
                format!("tuple<{}>", types.join(", "))
            }
            TypeDefKind::Future(ty) => format!("future<{}>", self.optional(ty.as_ref())),
            TypeDefKind::Stream(ty) => format!("stream<{}>", self.optional(ty.as_ref())),
            TypeDefKind::Handle(Handle::Own(id)) => format!("own<{}>", self.name_of_id(*id)),
            TypeDefKind::Handle(Handle::Borrow(id)) => format!("borrow<{}>", self.name_of_id(*id)),
            TypeDefKind::Type(ty) => self.name_of(ty),
            // What has parts of its own has a name as well, by which it is written.
            other => other.as_str().to_owned(),
        }
    }

    fn optional(&self, ty: Option<&Type>) -> String {
        ty.map_or_else(|| "_".to_owned(), |ty| self.name_of(ty))
    }
}

/// An interface or a world: what is in it has items of its own.
fn whole() -> Item {
    Item {
        parent: None,
        text: String::new(),
        appearing: Effect::Addition,
    }
}
