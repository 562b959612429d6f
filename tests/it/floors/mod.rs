//! The floors of the architecture. A room is a module at the root of the crate, and imports only rooms of the floors
//! below its own. Rooms of one floor do not know each other. `ARCHITECTURE.md` gives the purpose of each room.

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use imports::{Crate, Edge, Sources};

#[test]
fn no_room_imports_a_room_above_it_and_there_is_no_circle() {
    let edges = edges();
    let found: Vec<String> = upwards(&floors_of_the_page(), &edges).into_values().map(told).collect();
    assert!(found.is_empty(), "edges upwards:\n  {}", found.join("\n  "));
    assert_eq!(circles(&edges), Vec::<String>::new(), "circles");
}

/// `types` compares trees of any kind, and does not use structural information. The caller provides the comparison.
const KNOWN_STRAYS: [&str; 1] = ["struct_info implements ComparableTree: src/struct_info/syntactic.rs"];

#[test]
fn a_trait_is_implemented_where_it_or_the_type_is_at_home() {
    let house = |attic: &str| {
        let files = [
            ("lib.rs", "mod attic; mod cellar;"),
            ("attic.rs", attic),
            ("cellar.rs", "pub trait Kept {} pub struct Wine; impl Kept for bool {}"),
        ];
        let sources: Sources = files.into_iter().map(|(file, text)| (file.to_string(), text.to_string())).collect();
        Crate::read(&sources).unwrap().stray_impls().len()
    };
    assert_eq!(house("pub struct Trunk; impl crate::cellar::Kept for Trunk {}"), 0);
    assert_eq!(house("pub struct Trunk; impl crate::cellar::Kept for Vec<Trunk> {}"), 0);
    assert_eq!(house("use crate::cellar::{Kept, Wine}; impl Kept for Wine {}"), 1);
    assert_eq!(house("impl crate::cellar::Kept for u8 {}"), 1);
    let sources = sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")));
    let is_known = |stray: &String| KNOWN_STRAYS.iter().any(|known| stray.starts_with(known));
    let found: Vec<String> = Crate::read(&sources).unwrap().stray_impls();
    let unknown: Vec<&String> = found.iter().filter(|stray| !is_known(stray)).collect();
    assert_eq!(unknown, Vec::<&String>::new());
    assert_eq!(found.len(), KNOWN_STRAYS.len(), "{found:?}");
}

#[test]
fn every_room_has_its_floor() {
    let (floors, edges) = (floors_of_the_page(), edges());
    let rooms: BTreeSet<&str> = edges.iter().flat_map(|edge| [edge.from.as_str(), edge.to.as_str()]).collect();
    let homeless: Vec<&&str> = rooms.iter().filter(|room| floor(&floors, room).is_none()).collect();
    assert!(homeless.is_empty(), "rooms without a floor: {homeless:?}");
    let mut all: Vec<&String> = floors.iter().flatten().collect();
    all.sort();
    let twice: Vec<&[&String]> = all.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "rooms with two floors: {twice:?}");
}

#[test]
fn an_edge_upwards_is_found_however_it_is_written() {
    let house = ["cellar", "parlour", "attic"].map(|room| vec![room.to_string()]);
    for code in [
        "use crate::attic::Trunk;",
        "fn f(_: crate::attic::Trunk) {}",
        "use super::attic;",
        "use crate::{attic::Trunk, cellar::Wine};",
        "fn f() { use crate::attic as top; top::open() }",
        "fn f() { println!(\"{}\", crate::attic::open()) }",
        "use crate::parlour::Borrowed;",
        "use crate::parlour::*; fn f(_: Lent) {}",
        "mod inner { fn f() { super::super::attic::open() } }",
        "impl From<crate::attic::Trunk> for () {}",
    ] {
        let found = found_in(&house, &format!("pub struct Chair; {code}"));
        assert!(
            found.contains(&"parlour to attic".to_string()) || found.contains(&"cellar to attic".to_string()),
            "{code}: {found:?}"
        );
    }
    for code in [
        "use crate::cellar::Wine;",
        "#[cfg(test)] use crate::attic::Trunk;",
        "#[cfg(test)] mod tests { use crate::attic::Trunk; }",
        "/// [`crate::attic::Trunk`]\npub fn f() {}",
        "fn attic() {} fn f() { attic() }",
    ] {
        assert_eq!(found_in(&house, &format!("pub struct Chair; {code}")), Vec::<String>::new(), "{code}");
    }
}

fn page() -> String {
    fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md"))).unwrap()
}

fn edges() -> BTreeSet<Edge> {
    Crate::read(&sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")))).unwrap().edges()
}

/// The rooms of each floor as listed in ARCHITECTURE.md, `| 3 | `grammar` |`, from the bottom up.
fn floors_of_the_page() -> Vec<Vec<String>> {
    let page = page();
    let rows = page.lines().filter_map(|line| {
        let (number, rooms) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        number.parse::<usize>().ok()?;
        Some(rooms.split(", ").map(|room| room.trim_matches('`').to_string()).collect())
    });
    let mut floors: Vec<Vec<String>> = rows.collect();
    floors.reverse();
    floors
}

#[test]
fn the_page_on_the_architecture_has_a_paragraph_for_each_room() {
    let (page, floors) = (page(), floors_of_the_page());
    let paragraphs: Vec<&str> = page.split("\n\n").collect();
    let untold = floors.iter().flatten().filter(|room| {
        let begins = format!("**`{room}`**");
        !paragraphs.iter().any(|text| text.starts_with(&begins) && text.contains("*Invariant:*"))
    });
    assert_eq!(untold.collect::<Vec<_>>(), Vec::<&String>::new(), "rooms without a paragraph and an invariant");
}

/// The pages that name files by their paths from the root: those at the root, the protocol, and the guides.
fn pages(root: &Path) -> Vec<String> {
    let guides = fs::read_dir(root.join("docs/dev")).unwrap();
    let guides = guides.map(|entry| format!("docs/dev/{}", entry.unwrap().file_name().display()));
    let named = [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "SECURITY.md",
        "conformance/INTERPRETING.md",
        "conformance/adapters/tvm/README.md",
    ];
    named.map(str::to_string).into_iter().chain(guides).collect()
}

#[test]
fn the_files_that_the_pages_name_or_link_to_are_there() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut missing = Vec::new();
    for page in pages(root) {
        let text = fs::read_to_string(root.join(&page)).unwrap();
        let named = text.split('`').skip(1).step_by(2).filter(|word| {
            ["src/", "crates/", "tests/", "tools/", "spec/", "conformance/"].iter().any(|dir| word.starts_with(dir))
                && !word.contains(|c: char| c.is_ascii_uppercase() || matches!(c, '*' | '<' | ' '))
        });
        missing.extend(named.filter(|path| !root.join(path).exists()).map(|path| format!("{page}: {path}")));
        let beside = root.join(&page).parent().unwrap().to_path_buf();
        let linked = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let linked = linked.filter(|link| !link.is_empty() && !link.contains("://"));
        missing.extend(linked.filter(|link| !beside.join(link).exists()).map(|link| format!("{page}: {link}")));
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// The upward edges in a small crate whose module `parlour` has this code.
fn found_in(house: &[Vec<String>], parlour: &str) -> Vec<String> {
    let borrows = parlour.contains("parlour::");
    // Cases about the parlour itself are tested from the cellar, through re-exports of the parlour.
    let (cellar, parlour) = if borrows {
        (parlour.to_string(), "pub use crate::attic::Trunk as Borrowed; pub use crate::attic::*;".to_string())
    } else {
        ("pub struct Wine;".to_string(), parlour.to_string())
    };
    let files = [
        ("lib.rs", "mod attic; mod cellar; mod parlour;".to_string()),
        ("attic.rs", "pub struct Trunk; pub struct Lent; pub fn open() {}".to_string()),
        ("cellar.rs", cellar),
        ("parlour/mod.rs", parlour),
    ];
    let sources: Sources = files.into_iter().map(|(file, text)| (file.to_string(), text)).collect();
    let edges = Crate::read(&sources).unwrap().edges();
    upwards(house, &edges).into_keys().map(|(from, to)| format!("{from} to {to}")).collect()
}

#[test]
fn rooms_that_import_each_other_are_a_circle() {
    let edge = |from: &str, to: &str| Edge {
        from: from.to_string(),
        to: to.to_string(),
        place: String::new(),
        path: String::new(),
    };
    let edges = BTreeSet::from([edge("a", "b"), edge("b", "c"), edge("c", "b"), edge("c", "d")]);
    assert_eq!(circles(&edges), ["b, c"]);
}

fn floor(floors: &[Vec<String>], room: &str) -> Option<usize> {
    floors.iter().position(|rooms| rooms.iter().any(|known| known == room))
}

/// The edges that do not lead to a lower floor, one for each pair of rooms.
fn upwards<'e>(floors: &[Vec<String>], edges: &'e BTreeSet<Edge>) -> BTreeMap<(&'e str, &'e str), &'e Edge> {
    edges
        .iter()
        .rev()
        .filter(|edge| floor(floors, &edge.to) >= floor(floors, &edge.from))
        .map(|edge| ((edge.from.as_str(), edge.to.as_str()), edge))
        .collect()
}

/// The rooms that can reach each other.
fn circles(edges: &BTreeSet<Edge>) -> Vec<String> {
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges {
        reach.entry(&edge.from).or_default().insert(&edge.to);
    }
    loop {
        let before: usize = reach.values().map(BTreeSet::len).sum();
        let further: Vec<(&str, BTreeSet<&str>)> = reach
            .iter()
            .map(|(from, to)| (*from, to.iter().filter_map(|room| reach.get(room)).flatten().copied().collect()))
            .collect();
        further.into_iter().for_each(|(from, to)| reach.entry(from).or_default().extend(to));
        if reach.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let reaches = |from: &str, to: &str| reach.get(from).is_some_and(|rooms| rooms.contains(to));
    let circle = |room: &&str| -> Vec<&str> {
        reach.keys().copied().filter(|other| reaches(room, other) && reaches(other, room)).collect()
    };
    let all: BTreeSet<Vec<&str>> = reach.keys().map(circle).filter(|rooms| rooms.len() > 1).collect();
    all.into_iter().map(|rooms| rooms.join(", ")).collect()
}

fn told(edge: &Edge) -> String {
    format!("{} -> {}: src/{}, {}", edge.from, edge.to, edge.place, edge.path)
}

/// The sources in `src/`.
fn sources(root: &Path) -> Sources {
    let src = root.join("src");
    let mut found = Sources::new();
    let mut dirs = vec![src.clone()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&src).unwrap().display().to_string();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}
