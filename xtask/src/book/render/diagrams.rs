//! Diagrams, each made from what it shows: the grammar from the table of its nodes, the order of some structural
//! information from the judgement. Which judgements ask each other comes from the derivations of the golden cases.
//! A map shows how many of them each rule has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use railroad::{Choice, Diagram, Node, NonTerminal, Optional, Repeat, Sequence, Terminal};
use relax_spec::book::Rule;
use relax_spec::grammar::notation::parse_struct_info;
use relax_spec::judge::Cx;
use relax_spec::struct_info::is_more_specific;

use super::Links;
use super::chapter::escaped;
use super::entries::path_of_rule;
use super::links::page_of;

/// The structural information whose order is drawn.
const SAMPLES: [&str; 13] = [
    "Object",
    "Shape(ndim=-1)",
    "Shape(ndim=2)",
    "Shape((n, 4))",
    "Shape((2, 4))",
    "Tensor(ndim=-1)",
    "Tensor(ndim=2)",
    "Tensor(ndim=-1, float32)",
    "Tensor(ndim=2, float32)",
    "Tensor((n, 4), float32)",
    "Tensor((2, 4), float32)",
    "Tuple(Object)",
    "Tuple(Shape((2, 4)))",
];

/// From how many golden cases on a rule has each colour of the map.
const LEVELS: [usize; 5] = [0, 1, 3, 10, 30];

/// What is drawn at the end of a chapter, from its text.
///
/// # Errors
///
/// What is to be drawn has another form.
pub fn of_chapter(links: &Links, path: &str, content: &str) -> Result<String, String> {
    match path {
        "grammar.md" => grammar(content),
        "unification.md" => order(),
        "indexes.md" => Ok(judgements(&links.judgements.asked)? + &coverage(links, path)),
        _ => Ok(String::new()),
    }
}

/// A drawing below a heading. An empty line would end it.
fn section(title: &str, about: &str, drawing: &str) -> String {
    let lines: Vec<&str> = drawing.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("\n## {title}\n\n{about}\n\n<div class=\"diagram\">\n{}\n</div>\n", lines.join("\n"))
}

// The grammar

/// Each category as a railroad diagram.
fn grammar(chapter: &str) -> Result<String, String> {
    let mut categories: BTreeMap<&str, Vec<Box<dyn Node>>> = BTreeMap::new();
    for row in chapter.lines().skip_while(|line| *line != "## All nodes").take_while(|line| !line.starts_with("r[")) {
        if let [_, category, nodes, fields, _] = row.split('|').map(str::trim).collect::<Vec<&str>>().as_slice()
            && nodes.contains('`')
        {
            categories.entry(category).or_default().extend(forms(nodes, fields));
        }
    }
    if categories.is_empty() {
        return Err("the grammar has no table of all nodes".to_string());
    }
    let mut drawing = String::new();
    for (category, forms) in categories {
        let _ = write!(drawing, "<h3>{category}</h3>\n{}\n", sized(&Diagram::new(Choice::new(forms)).to_string()));
    }
    Ok(section("As railroad diagrams", "Made from the table of all nodes.", &drawing))
}

/// A drawing at the size in which it is drawn, not at the width of the page.
fn sized(svg: &str) -> String {
    let size = svg.split_once("viewBox=\"0 0 ").and_then(|(_, rest)| rest.split_once('"')?.0.split_once(' '));
    size.map_or_else(
        || svg.to_string(),
        |(width, height)| svg.replacen("<svg", &format!("<svg width=\"{width}\" height=\"{height}\""), 1),
    )
}

/// The nodes of a row, each with its fields. Nodes between semicolons have the fields between the same semicolons, or
/// all have the same.
fn forms(nodes: &str, fields: &str) -> Vec<Box<dyn Node>> {
    let groups: Vec<&str> = nodes.split(';').collect();
    let own: Vec<&str> = fields.split(';').collect();
    let of = |at: usize| if own.len() == groups.len() { own.get(at) } else { own.first() };
    let mut found: Vec<Box<dyn Node>> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        for node in quoted(group) {
            let mut parts: Vec<Box<dyn Node>> = vec![Box::new(Terminal::new(node.to_string()))];
            let fields = quoted(of(at).unwrap_or(&""));
            parts.extend(fields.filter(|field| field.starts_with(char::is_lowercase)).map(field));
            found.push(Box::new(Sequence::new(parts)));
        }
    }
    found
}

fn field(name: &str) -> Box<dyn Node> {
    let node = |name: &str| NonTerminal::new(name.to_string());
    let (optional, name) = name.strip_suffix('?').map_or((false, name), |name| (true, name));
    let field: Box<dyn Node> = match name.strip_suffix("[]") {
        Some(name) => Box::new(Optional::new(Repeat::new(node(name), Terminal::new(",".to_string())))),
        None => Box::new(node(name)),
    };
    if optional { Box::new(Optional::new(field)) } else { field }
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

// Graphs

/// A graph, from top to bottom.
fn graph(edges: &BTreeSet<(&str, &str)>) -> Result<String, String> {
    let mut names: Vec<&str> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
    names.sort_unstable();
    names.dedup();
    let mut dot = "digraph {\n".to_string();
    for (at, name) in names.iter().enumerate() {
        let _ = writeln!(dot, "n{at} [label=\"{name}\", shape=\"box\"];");
    }
    let at = |name: &str| names.binary_search(&name).unwrap_or_default();
    for (from, to) in edges {
        let _ = writeln!(dot, "n{} -> n{};", at(from), at(to));
    }
    dot.push('}');
    let parsed = DotParser::new(&dot).process()?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&parsed);
    let mut writer = SVGWriter::new();
    builder.get().do_it(false, false, false, &mut writer);
    let drawn = writer.finalize();
    let svg = drawn.split_once("?>").map_or(drawn.as_str(), |(_, svg)| svg);
    // An edge has no label, for which it would be linked to.
    let unlabelled = svg.split("<text><textPath").enumerate();
    Ok(unlabelled
        .map(|(at, part)| if at == 0 { part } else { part.split_once("</text>").map_or("", |p| p.1) })
        .collect())
}

/// The pairs of an order between which nothing lies.
fn neighbours<'a>(all: &[&'a str], below: &BTreeSet<(&'a str, &'a str)>) -> BTreeSet<(&'a str, &'a str)> {
    let strictly = |a: &'a str, b: &'a str| below.contains(&(a, b)) && !below.contains(&(b, a));
    let pairs = all.iter().flat_map(|upper| all.iter().map(move |lower| (*upper, *lower)));
    pairs
        .filter(|(upper, lower)| strictly(lower, upper))
        .filter(|(upper, lower)| !all.iter().any(|between| strictly(lower, between) && strictly(between, upper)))
        .collect()
}

/// The order of the samples.
fn order() -> Result<String, String> {
    let read = |text: &&'static str| Ok((*text, parse_struct_info(text).map_err(|error| format!("{text}: {error}"))?));
    let infos = SAMPLES.iter().map(read).collect::<Result<Vec<_>, String>>()?;
    let mut cx = Cx::new();
    let mut below = BTreeSet::new();
    for (name, info) in &infos {
        let lower = infos.iter().filter(|(_, other)| is_more_specific(&mut cx, other, info));
        below.extend(lower.map(|(other, _)| (*other, *name)));
    }
    let about = "What is lower is more specific. Made by asking the judgement `is_more_specific` about each pair.";
    Ok(section("The order of some structural information", about, &graph(&neighbours(&SAMPLES, &below))?))
}

/// Which judgements ask which others. A question is none, and nobody asks it.
fn judgements(asked: &BTreeSet<(String, String)>) -> Result<String, String> {
    let is_asked = |name: &String| asked.iter().any(|(_, to)| to == name);
    let edges = asked.iter().filter(|(from, to)| from != to && is_asked(from));
    let edges = edges.map(|(from, to)| (from.as_str(), to.as_str())).collect();
    let about = "An arrow leads from a judgement to one that it asks. Made from the derivations of the golden cases.";
    Ok(section("Which judgements ask which others", about, &graph(&edges)?))
}

// Coverage

/// A cell for each rule, by chapters, whose colour says how many golden cases claim it.
fn coverage(links: &Links, from: &str) -> String {
    let mut chapters: Vec<(&str, String)> = Vec::new();
    for rule in Rule::ALL.iter().copied() {
        let (_, count) = links.cases(from, rule);
        let level = LEVELS.iter().filter(|least| **least <= count).count();
        let target = path_of_rule(rule).replace(".md", ".html");
        let cell = format!("<a class=\"cases-{level}\" href=\"{target}\" title=\"{rule}: {count}\"></a>");
        match chapters.iter_mut().find(|(page, _)| *page == page_of(rule)) {
            Some((_, cells)) => cells.push_str(&cell),
            None => chapters.push((page_of(rule), cell)),
        }
    }
    let mut drawing = String::new();
    for (page, cells) in chapters {
        let name = escaped(page.trim_end_matches(".md"));
        let target = page.replace(".md", ".html");
        let _ = writeln!(drawing, "<p class=\"heat\"><a href=\"{target}\">{name}</a> {cells}</p>");
    }
    let about =
        "A cell is a rule. The darker it is, the more golden cases claim it: none, 1, from 3, from 10, from 30.";
    section("Golden cases of each rule", about, &drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbours_are_joined() {
        let below =
            BTreeSet::from([("a", "a"), ("a", "b"), ("b", "c"), ("a", "c"), ("d", "c"), ("e", "f"), ("f", "e")]);
        let joined = neighbours(&["a", "b", "c", "d", "e", "f"], &below);
        assert_eq!(joined, BTreeSet::from([("b", "a"), ("c", "b"), ("c", "d")]));
    }

    #[test]
    fn every_sample_is_drawn_once() {
        let drawn = order().expect("the samples can be read");
        for sample in SAMPLES {
            assert_eq!(drawn.matches(&format!(">{sample}<")).count(), 1, "{sample}: {drawn}");
        }
    }

    #[test]
    fn every_node_of_the_table_is_drawn() {
        let chapter = "## All nodes\n\n| category | node | fields |\n| --- | --- | --- |\n| a | `X`; `Y` `Z` | `one?`; \
                       `two[]`, a list |\n| b | `V`, `W` | `x` each: `V` |\n\nr[A]\n| c | `U` | none |";
        let drawn = grammar(chapter).expect("there is a table").replace('\n', "");
        for (text, count) in [(">X<", 1), (">Z<", 1), (">one<", 1), (">two<", 2), (">W<", 1), (">x<", 2), (">U<", 0)] {
            assert_eq!(drawn.matches(text).count(), count, "{text}: {drawn}");
        }
        assert!(grammar("# Grammar").is_err());
    }
}
