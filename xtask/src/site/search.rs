//! The index of the site's search. mdBook indexes whole pages, code and cases included, which is 26 MB. Kept are the
//! headings of chapters, and of a page of a single thing what stands before its second heading: the id, the title and
//! the text.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

const HEAD: &str = "window.search = Object.assign(window.search, JSON.parse('";
const TAIL: &str = "'));";

/// The directories of pages of single things.
const SINGLE: [&str; 6] = ["rules/", "errata/", "operators/", "findings/", "passes/", "implementations/"];

/// Shortens the index of a site. Returns its size before and after, in bytes.
///
/// # Errors
///
/// There is no index, or it does not have the form of mdBook 0.5.
pub fn shorten(site: &Path) -> Result<(usize, usize), String> {
    let told = |error: std::io::Error| format!("{}: {error}", site.display());
    let mut sizes = None;
    for entry in fs::read_dir(site).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("searchindex") && name.ends_with(".js") {
            let text = fs::read_to_string(&path).map_err(told)?;
            let short = shortened(&text).ok_or_else(|| format!("{name} is no index of mdBook 0.5"))?;
            fs::write(&path, &short).map_err(told)?;
            sizes = Some((text.len(), short.len()));
        }
    }
    sizes.ok_or_else(|| format!("{} has no index of its search", site.display()))
}

fn shortened(text: &str) -> Option<String> {
    let quoted = text.trim_end().strip_prefix(HEAD)?.strip_suffix(TAIL)?;
    let mut search: Value = serde_json::from_str(&unquoted(quoted)).ok()?;
    let urls: Vec<String> =
        search["doc_urls"].as_array()?.iter().filter_map(|url| url.as_str().map(str::to_string)).collect();
    let dropped = unwanted(&urls);
    let index = search.get_mut("index")?;
    let store = index.get_mut("documentStore")?;
    for part in ["docs", "docInfo"] {
        store.get_mut(part)?.as_object_mut()?.retain(|number, _| !dropped.contains(number));
    }
    let docs = store.get_mut("docs")?.as_object_mut()?;
    let length = docs.len();
    let mut untold = BTreeSet::new();
    for (number, doc) in docs.iter_mut() {
        let url = number.parse().ok().and_then(|at: usize| urls.get(at)).map_or("", String::as_str);
        // The text of a chapter is that of its rules, which have pages of their own.
        if !is_single(url)
            && let Some(body) = doc.get_mut("body")
        {
            *body = "".into();
            untold.insert(number.clone());
        }
    }
    *store.get_mut("length")? = length.into();
    let numbers: BTreeSet<String> = (0..urls.len()).map(|number| number.to_string()).collect();
    for (field, words) in index.get_mut("index")?.as_object_mut()? {
        let gone: BTreeSet<String> = match field.as_str() {
            "body" => dropped.union(&untold).cloned().collect(),
            // What a page is under says no more than its title.
            "breadcrumbs" => numbers.clone(),
            _ => dropped.clone(),
        };
        prune(words.get_mut("root")?.as_object_mut()?, &gone);
    }
    Some(format!("{HEAD}{}{TAIL}", quoted_again(&search.to_string())))
}

fn is_single(url: &str) -> bool {
    SINGLE.iter().any(|folder| url.starts_with(folder)) && !url.contains("/index.html")
}

/// The numbers of the sections to leave out: of a page of a single thing all but the first, and the lists of all.
fn unwanted(urls: &[String]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut found = BTreeSet::new();
    for (number, url) in urls.iter().enumerate() {
        let page = url.split('#').next().unwrap_or(url);
        let is_first = seen.insert(page);
        let is_list = SINGLE.iter().any(|folder| page.starts_with(folder)) && !is_single(page);
        if is_list || (is_single(page) && !is_first) {
            found.insert(number.to_string());
        }
    }
    found
}

/// Removes documents from a node of the tree of words, and the nodes below it that have none left.
fn prune(node: &mut Map<String, Value>, gone: &BTreeSet<String>) {
    let mut count = 0;
    if let Some(docs) = node.get_mut("docs").and_then(Value::as_object_mut) {
        docs.retain(|number, _| !gone.contains(number));
        count = docs.len();
    }
    node.insert("df".to_string(), count.into());
    node.retain(|letter, below| match below.as_object_mut() {
        Some(below) if letter != "docs" => {
            prune(below, gone);
            below.keys().any(|key| key != "docs" && key != "df") || below["df"] != 0
        }
        Some(_) | None => true,
    });
}

/// The text between the quotes of a string of JavaScript, as mdBook writes it.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        out.extend(if c == '\\' { letters.next() } else { Some(c) });
    }
    out
}

fn quoted_again(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_can_be_found_and_nothing_else() {
        let search = json!({
            "doc_urls": ["rules/A.html#a", "rules/A.html#code", "chapter.html#it's", "rules/index.html"],
            "index": {
                "documentStore": {
                    "docs": { "0": {"body": "x"}, "1": {"body": "fn"}, "2": {"body": "x"}, "3": {"body": "A"} },
                    "docInfo": { "0": {}, "1": {}, "2": {}, "3": {} }, "length": 4
                },
                "index": { "body": { "root": { "docs": {}, "df": 0,
                    "x": { "docs": { "0": {"tf": 1}, "2": {"tf": 1} }, "df": 2 },
                    "f": { "docs": {}, "df": 0, "n": { "docs": { "1": {"tf": 1} }, "df": 1 } }
                } } }
            }
        });
        let text = format!("{HEAD}{}{TAIL}", quoted_again(&search.to_string()));
        let short = shortened(&text).unwrap();
        let kept: Value =
            serde_json::from_str(&unquoted(short.strip_prefix(HEAD).unwrap().strip_suffix(TAIL).unwrap())).unwrap();
        assert_eq!(kept["doc_urls"], search["doc_urls"]);
        assert_eq!(kept["index"]["documentStore"]["docs"], json!({ "0": {"body": "x"}, "2": {"body": ""} }));
        assert_eq!(
            kept["index"]["index"]["body"]["root"],
            json!({ "docs": {}, "df": 0, "x": { "docs": { "0": {"tf": 1} }, "df": 1 } })
        );
        assert_eq!(shortened("window.search = 1;"), None);
    }
}
