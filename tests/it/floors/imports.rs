//! Finds the modules that a crate's modules import, by symbol. A path counts for every room that it passes through, and
//! a re-export also for the room that defines the symbol.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// The sources of a crate: path relative to `src/`, and text.
pub type Sources = BTreeMap<String, String>;

/// Names from the root of the crate down.
type Path = Vec<String>;

/// A module: its items, its imports with their names, and the paths in its code.
#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    imports: Vec<Import>,
    mentions: Vec<(Path, usize)>,
    impls: Vec<Impl>,
    /// The types defined inside functions.
    inner: BTreeSet<String>,
}

/// An implementation of a trait: the trait, the names in the type, and the position.
struct Impl {
    of: Path,
    names: Vec<Path>,
    line: usize,
}

/// `use path as name`, or `use path::*` without a name.
struct Import {
    name: Option<String>,
    path: Path,
    line: usize,
}

/// The modules of a crate by their paths, without test code.
pub struct Crate {
    modules: BTreeMap<Path, Module>,
}

/// A reference from one room to another: its position and its path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub place: String,
    pub path: String,
}

impl Crate {
    /// # Errors
    /// A file that is missing or is not Rust.
    pub fn read(sources: &Sources) -> Result<Crate, String> {
        let mut read = Crate { modules: BTreeMap::new() };
        read.load(sources, Vec::new(), "lib.rs")?;
        Ok(read)
    }

    fn load(&mut self, sources: &Sources, path: Path, file: &str) -> Result<(), String> {
        let text = sources.get(file).ok_or_else(|| format!("{file} is missing"))?;
        let syntax = syn::parse_file(text).map_err(|error| format!("{file}: {error}"))?;
        self.items(sources, path, file, &syntax.items)
    }

    fn items(&mut self, sources: &Sources, path: Path, file: &str, items: &[syn::Item]) -> Result<(), String> {
        let mut module = Module { file: file.to_string(), ..Module::default() };
        for item in items {
            match item {
                syn::Item::Mod(child) if is_for_tests(&child.attrs) => {}
                syn::Item::Mod(child) => {
                    let mut below = path.clone();
                    below.push(child.ident.to_string());
                    match &child.content {
                        Some((_, inline)) => self.items(sources, below, file, inline)?,
                        None => {
                            let stem = below.join("/");
                            let flat = format!("{stem}.rs");
                            let nested = format!("{stem}/mod.rs");
                            let file = if sources.contains_key(&flat) { flat } else { nested };
                            self.load(sources, below, &file)?;
                        }
                    }
                }
                other => {
                    module.items.extend(name_of(other));
                    module.visit_item(other);
                }
            }
        }
        self.modules.insert(path, module);
        Ok(())
    }

    /// Every edge between rooms, that is, modules at the root. The root itself only assembles them and has no edges.
    pub fn edges(&self) -> BTreeSet<Edge> {
        let mut edges = BTreeSet::new();
        for (at, module) in &self.modules {
            let Some(from) = at.first() else { continue };
            let imported = module.imports.iter().map(|import| (&import.path, import.line));
            let mentioned = module.mentions.iter().map(|(path, line)| (path, *line));
            for (path, line) in imported.chain(mentioned) {
                let mut rooms = BTreeSet::new();
                self.follow(at, path, &mut rooms, &mut Vec::new());
                for to in rooms.into_iter().filter(|to| to != from) {
                    let place = format!("{}:{line}", module.file);
                    edges.insert(Edge { from: from.clone(), to, place, path: path.join("::") });
                }
            }
        }
        edges
    }

    /// Places where a room implements the trait of another one for a type that is not its own. Such a room would be
    /// needed by a floor that calls the trait, however high it is.
    pub fn stray_impls(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (at, module) in &self.modules {
            let Some(room) = at.first() else { continue };
            let rooms_of = |path: &Path| {
                let mut rooms = BTreeSet::new();
                self.follow(at, path, &mut rooms, &mut Vec::new());
                rooms
            };
            for Impl { of, names, line } in &module.impls {
                let owners = rooms_of(of);
                let is_own = |path: &Path| {
                    path.first().is_some_and(|name| module.items.contains(name) || module.inner.contains(name))
                        || rooms_of(path).contains(room)
                };
                if !owners.is_empty() && !owners.contains(room) && !names.iter().any(is_own) {
                    found.push(format!("{room} implements {}: src/{}:{line}", of.join("::"), module.file));
                }
            }
        }
        found
    }

    /// The module that a path leads to, if there is one. Every room on the way is recorded. `seen` prevents endless
    /// recursion with cyclic imports.
    fn follow(&self, from: &Path, path: &[String], rooms: &mut BTreeSet<String>, seen: &mut Vec<Path>) -> Option<Path> {
        let mut at = from.clone();
        let mut rest = path;
        let mut entered = false;
        while let Some((name, after)) = rest.split_first() {
            match name.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                name => {
                    at = self.enter(&at, name, entered, rooms, seen)?;
                }
            }
            entered = true;
            rooms.extend(at.first().cloned());
            rest = after;
        }
        Some(at)
    }

    /// The module that a name in a module refers to, if any.
    fn enter(
        &self,
        at: &Path,
        name: &str,
        entered: bool,
        rooms: &mut BTreeSet<String>,
        seen: &mut Vec<Path>,
    ) -> Option<Path> {
        let mut child = at.clone();
        child.push(name.to_string());
        if self.modules.contains_key(&child) {
            return Some(child);
        }
        let module = self.modules.get(at)?;
        if module.items.contains(name) || seen.contains(&child) {
            return None;
        }
        seen.push(child);
        let named = module.imports.iter().find(|import| import.name.as_deref() == Some(name));
        if let Some(import) = named {
            return self.follow(at, &import.path, rooms, seen);
        }
        if !entered {
            return None;
        }
        // A name from a glob counts for the rooms of the glob's path only if it is defined there.
        for glob in module.imports.iter().filter(|import| import.name.is_none()) {
            let mut through = BTreeSet::new();
            if let Some(target) = self.follow(at, &glob.path, &mut through, seen)
                && self.modules.get(&target).is_some_and(|module| module.items.contains(name))
            {
                rooms.extend(through);
                return None;
            }
        }
        None
    }
}

impl Module {
    fn tree(&mut self, tree: &syn::UseTree, path: &mut Path) {
        match tree {
            syn::UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.tree(&step.tree, path);
                path.pop();
            }
            syn::UseTree::Name(leaf) => self.leaf(&leaf.ident, &leaf.ident, path),
            syn::UseTree::Rename(leaf) => self.leaf(&leaf.ident, &leaf.rename, path),
            syn::UseTree::Glob(leaf) => {
                let line = leaf.star_token.spans[0].start().line;
                self.imports.push(Import { name: None, path: path.clone(), line });
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, path)),
        }
    }

    fn leaf(&mut self, ident: &syn::Ident, name: &syn::Ident, path: &Path) {
        let mut path = path.clone();
        let name = match (ident == "self", path.last()) {
            (true, Some(last)) if ident == name => last.clone(),
            _ => name.to_string(),
        };
        if ident != "self" {
            path.push(ident.to_string());
        }
        self.imports.push(Import { name: Some(name), path, line: ident.span().start().line });
    }

    /// Paths in the arguments of a macro, which cannot be parsed: names joined by `::`.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    while let [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(next), ..] = &tokens[at + 1..]
                        && a.as_char() == ':'
                        && b.as_char() == ':'
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    self.mentions.push((path, first.span().start().line));
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.tree(&item.tree, &mut Vec::new());
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if is_for_tests(&item.attrs) {
            return;
        }
        if let Some((_, of, _)) = &item.trait_ {
            let mut inside = Module::default();
            inside.visit_type(&item.self_ty);
            let line = of.segments.first().map_or(0, |segment| segment.ident.span().start().line);
            let names = inside.mentions.into_iter().map(|(path, _)| path).collect();
            self.impls.push(Impl { of: names_of(of), names, line });
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.inner.insert(item.ident.to_string());
        visit::visit_item_struct(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = names_of(path);
        let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
        self.mentions.push((names, line));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

fn names_of(path: &syn::Path) -> Path {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// `#[cfg(test)]`.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

fn name_of(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
