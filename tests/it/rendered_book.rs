//! The book after its preprocessor: each rule has its anchor, and every link has a target.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use ask::adapters::TvmVersion;
use relax_spec::book::{Edition, Erratum, Rule};
use relax_spec::ops;
use serde_json::{Value, json};

#[path = "../../xtask/src/book/render/mod.rs"]
mod render;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The chapters of the summary, as mdBook would send them.
fn chapters() -> Vec<Value> {
    let summary = read("spec/src/SUMMARY.md");
    let links = summary.lines().filter_map(|line| line.trim_start_matches("- ").strip_prefix('['));
    let chapters = links.map(|link| {
        let (name, path) = link.trim_end_matches(')').split_once("](").unwrap();
        let content = read(&format!("spec/src/{path}"));
        json!({ "Chapter": {
            "name": name, "content": content, "number": [1], "sub_items": [],
            "path": path, "source_path": path, "parent_names": [],
        } })
    });
    chapters.collect()
}

/// The addresses of the public texts in `spec/book.toml`.
fn sources() -> Value {
    let config = read("spec/book.toml");
    let (_, table) = config.split_once("[preprocessor.relax-spec.sources]").unwrap();
    let rows = table.lines().skip(1).take_while(|line| !line.starts_with('['));
    let pairs = rows.filter_map(|row| row.split_once(" = "));
    pairs.map(|(name, address)| (name.trim_matches('"').to_string(), json!(address.trim_matches('"')))).collect()
}

fn rendered_under(key: &str) -> Value {
    let config = json!({ "preprocessor": { "relax-spec": { "sources": sources() } } });
    let book = json!({ key: [{ "PartTitle": "A part" }, "Separator"] });
    let mut input = json!([{ "config": config }, book]);
    input[1][key].as_array_mut().unwrap().extend(chapters());
    render::book(input).unwrap()
}

/// The pages by their paths.
fn pages() -> &'static BTreeMap<String, String> {
    static PAGES: LazyLock<BTreeMap<String, String>> = LazyLock::new(rendered_pages);
    &PAGES
}

fn rendered_pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    let mut pending: Vec<Value> = rendered_under("items")["items"].as_array().unwrap().clone();
    while let Some(item) = pending.pop() {
        if let Some(chapter) = item.get("Chapter") {
            pending.extend(chapter["sub_items"].as_array().unwrap().clone());
            let text = |field: &str| chapter[field].as_str().unwrap().to_string();
            assert_eq!(pages.insert(text("path"), text("content")), None);
        }
    }
    pages
}

/// The lines of a page outside of code, without the parts in backticks.
fn prose(page: &str) -> String {
    let mut in_code = false;
    let mut out = String::new();
    for line in page.lines() {
        if line.trim_start_matches(['>', ' ']).starts_with("```") {
            in_code = !in_code;
        } else if !in_code && !line.starts_with("    ") {
            let kept: Vec<&str> = line.split('`').step_by(2).collect();
            out.push_str(&kept.join("code"));
            out.push('\n');
        }
    }
    out
}

/// The parts between a beginning and an end.
fn between<'t>(text: &'t str, begin: &str, end: char) -> impl Iterator<Item = &'t str> {
    text.split(begin).skip(1).filter_map(move |rest| rest.split(end).next())
}

/// The possible targets of links on a page: named anchors, and headings as mdBook names them.
fn anchors(page: &str) -> BTreeSet<String> {
    let named = between(page, "<a id=\"", '"').map(str::to_string);
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
    });
    named.chain(headings).collect()
}

/// A path without its `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// The fault of a link of a page, if there is one.
fn fault(pages: &BTreeMap<String, String>, from: &str, link: &str) -> Option<String> {
    if link.starts_with("https://") {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let here = Path::new(from).parent().unwrap();
    let to = if path.is_empty() { from.to_string() } else { plain(&here.join(path)).display().to_string() };
    let page = to.strip_suffix(".html").map_or(to.clone(), |stem| format!("{stem}.md"));
    match (pages.get(&page), anchor) {
        (Some(text), Some(anchor)) if anchors(text).contains(anchor) => None,
        (Some(_), None) => None,
        (Some(_), Some(anchor)) => Some(format!("{from}: {page} has no place `{anchor}`")),
        (None, _) => {
            // The book is built into `target/book`.
            let file = plain(&root().join("target/book").join(here).join(path));
            (!file.is_file()).then(|| format!("{from}: there is no {link}"))
        }
    }
}

#[test]
fn every_rule_and_every_erratum_has_one_anchor() {
    let pages = pages();
    for rule in Rule::ALL {
        let page = rule.info().file.strip_prefix("spec/src/").unwrap();
        let anchor = format!("<a id=\"r-{rule}\"></a>");
        assert_eq!(pages[page].matches(&anchor).count(), 1, "{rule}");
    }
    let everywhere: usize = pages.values().map(|page| page.matches("<a id=\"r-").count()).sum();
    assert_eq!(everywhere, Rule::ALL.len());
    assert_eq!(pages["errata.md"].matches("<a id=\"e-").count(), Erratum::ALL.len());
    let left = pages.values().flat_map(|page| page.lines()).filter(|line| line.starts_with("r["));
    assert_eq!(left.count(), 0);
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    let mut faults = Vec::new();
    let mut count = 0;
    for (from, page) in pages {
        let prose = prose(page);
        for link in between(&prose, "](", ')').chain(between(&prose, "href=\"", '"')) {
            count += 1;
            faults.extend(fault(pages, from, link));
        }
    }
    assert!(faults.is_empty(), "{} of {count} links:\n{}", faults.len(), faults.join("\n"));
    assert!(count > 5 * Rule::ALL.len(), "{count} links");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let pages = BTreeMap::from([("ops/a.md".to_string(), "# One two\n<a id=\"r-X\"></a>".to_string())]);
    let wrong = |link: &str| fault(&pages, "ops/a.md", link).is_some();
    assert_eq!(["#r-X", "#one-two", "a.md", "../../../Cargo.toml"].map(wrong), [false; 4]);
    assert_eq!(["#r-Y", "b.md", "../a.md#r-X", "../../Cargo.toml"].map(wrong), [true; 4]);
}

#[test]
fn each_edition_has_a_page() {
    let pages = pages();
    for edition in Edition::ALL {
        let page = &pages[&format!("editions/{edition}.md")];
        let stated = Rule::ALL.iter().filter(|rule| rule.is_stated_by(edition)).count();
        assert!(page.starts_with(&format!("# Edition {edition}\n\n{stated} rules.")), "{page}");
    }
    let changed = &pages["editions/2024-04.md"];
    let (_, tail) = changed.split_once("[PRIMFUNC.SI.RESULT](../prim_func.md#r-PRIMFUNC.SI.RESULT)").unwrap();
    assert!(tail.trim_start().starts_with("Before (") && tail.contains("Now ("), "{tail}");
}

#[test]
fn a_rule_has_a_badge_for_each_edition_that_states_it() {
    let pages = pages();
    let head = |page: &str, id: &str| {
        let (_, tail) = pages[page].split_once(&format!("<a id=\"r-{id}\"></a>")).unwrap();
        tail.split("</details>").next().unwrap().to_string()
    };
    let removed = head("type_checking.md", "TC.CALL.NOTFUNC");
    assert!(removed.contains("<kbd>2023-02</kbd>") && !removed.contains("2023-12"), "{removed}");
    let changed = head("prim_func.md", "PRIMFUNC.SI.RESULT");
    assert!(changed.contains("<kbd>2023-12 new</kbd> <kbd>2024-04 changed</kbd>"), "{changed}");
    assert!(changed.contains("conformance/suite/") && changed.contains("src/"), "{changed}");
}

#[test]
fn the_public_text_is_linked_where_its_address_is_known() {
    let pages = pages();
    let address = "apache/tvm-rfcs/blob/04f40cf059a15dc383a0d5066ed6191c5e998554/rfcs/assets/0106/spec.md?plain=1#L";
    assert!(pages["prim_func.md"].contains(address));
    // The documents of the first edition have no known address.
    assert!(pages["derivation.md"].contains("source 002:1694"));
}

#[test]
fn books_of_both_forms_are_rendered() {
    assert_eq!(rendered_under("items")["items"], rendered_under("sections")["sections"]);
    for wrong in [json!({}), json!([{}]), json!([{}, {}]), json!([{}, { "items": [{ "Chapter": { "path": "a" } }] }])] {
        assert!(render::book(wrong.clone()).is_err(), "{wrong}");
    }
}

/// Whatever one may want to name has a page of its own.
#[test]
fn every_single_thing_has_an_address() {
    let pages = pages();
    let mut wanted: Vec<String> = Rule::ALL.iter().map(|rule| format!("rules/{rule}.md")).collect();
    wanted.extend(Erratum::ALL.iter().map(|erratum| format!("errata/{erratum}.md")));
    wanted.extend(Edition::ALL.iter().map(|edition| format!("editions/{edition}.md")));
    wanted.extend(ops::all().map(|op| format!("operators/{}.md", op.name.trim_start_matches("relax."))));
    wanted.extend(TvmVersion::ALL.iter().map(|version| format!("implementations/apache-tvm-{}.md", version.name())));
    let findings = fs::read_dir(root().join("conformance/findings")).unwrap().map(|entry| entry.unwrap().path());
    let findings = findings.filter(|path| path.join("README.md").is_file());
    wanted.extend(findings.map(|path| format!("findings/{}.md", path.file_name().unwrap().to_string_lossy())));
    let passes = read("spec/src/passes.md");
    let names = passes.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_string));
    wanted.extend(names.map(|name| format!("passes/{name}.md")));
    let missing: Vec<&String> = wanted.iter().filter(|path| !pages.contains_key(*path)).collect();
    assert!(missing.is_empty() && wanted.len() > 2_400, "{} of {}: {missing:?}", missing.len(), wanted.len());
}

/// An inference rule has no text in the notation of Rust, except what is quoted.
#[test]
fn inference_rules_hold_no_rust() {
    let notation = regex_lite::Regex::new(r"::|\|[^|]*\||=&gt;|&amp;|\.\w+\(|\b(mut|let|match)\b|\?").unwrap();
    let text = regex_lite::Regex::new("<mtext>([^<]*)</mtext>").unwrap();
    let mut found = BTreeSet::new();
    for (path, page) in pages() {
        for rule in page.split("<div class=\"inference\">").skip(1) {
            let rule = rule.split("</div>").next().unwrap();
            let texts = text.captures_iter(rule).map(|captures| captures[1].trim().to_string());
            found.extend(
                texts.filter(|text| !text.starts_with('“') && notation.is_match(text)).map(|text| (path.clone(), text)),
            );
        }
    }
    assert!(found.is_empty(), "{} texts: {found:#?}", found.len());
}

/// Rules of judgements are shown as inference rules, in MathML, with the same in LaTeX.
#[test]
fn rules_of_judgements_are_inference_rules() {
    let pages = pages();
    let shown = pages.iter().filter(|(path, page)| path.starts_with("rules/") && page.contains("class=\"judgement\""));
    let mut count = 0;
    for (path, page) in shown {
        count += 1;
        let rules = page.matches("<div class=\"inference\"><math").count();
        assert!(rules > 0 && rules == page.matches("\\dfrac").count(), "{path}");
        for part in ["math", "mrow", "mfrac", "mi", "mo"] {
            let opened = page.matches(&format!("<{part}>")).count() + page.matches(&format!("<{part} ")).count();
            assert_eq!(opened, page.matches(&format!("</{part}>")).count(), "{path}: {part}");
        }
    }
    assert!(count >= 250, "{count}");
}
