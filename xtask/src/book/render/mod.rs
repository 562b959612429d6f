//! A book in the JSON of mdBook, with the information of the tables about its rules.

mod chapter;
mod diagrams;
mod editions;
mod entries;
mod errata;
mod inference;
mod judgements;
mod links;

use serde_json::{Map, Value, json};

use links::Links;

/// Renders the book in `[context, book]`.
///
/// # Errors
///
/// It does not have the form of mdBook 0.4 or 0.5.
pub fn book(input: Value) -> Result<Value, String> {
    let Value::Array(parts) = input else { return Err("a list of context and book is expected".to_string()) };
    let [context, mut book] = <[Value; 2]>::try_from(parts).map_err(|_| "two parts are expected".to_string())?;
    let links = Links::read(&context["config"])?;
    // Up to 0.4 they are called sections.
    let key = if book.get("items").is_some() { "items" } else { "sections" };
    let items = book.get_mut(key).and_then(Value::as_array_mut).ok_or("the book has no items")?;
    items.iter_mut().try_for_each(|item| render_item(&links, item))?;
    Ok(book)
}

fn render_item(links: &Links, item: &mut Value) -> Result<(), String> {
    // Separators and part titles stay.
    let Some(chapter) = item.get_mut("Chapter").and_then(Value::as_object_mut) else { return Ok(()) };
    let Some(path) = chapter.get("path").and_then(Value::as_str).map(str::to_string) else { return Ok(()) };
    let content = chapter.get("content").and_then(Value::as_str).ok_or_else(|| format!("{path} has no content"))?;
    let mut rendered = chapter::render(links, &path, content)?;
    rendered.push_str(&diagrams::of_chapter(links, &path, content)?);
    if path == errata::PATH {
        rendered.push_str(&errata::list(links)?);
    }
    if path == entries::PATH {
        let pages = entries::pages(links, chapter)?;
        sub_items(chapter)?.extend(pages);
    }
    if path == editions::PATH {
        let pages = editions::pages(links, chapter)?;
        sub_items(chapter)?.extend(pages);
    }
    chapter.insert("content".to_string(), json!(rendered));
    sub_items(chapter)?.iter_mut().filter(|item| !is_made_here(item)).try_for_each(|item| render_item(links, item))
}

fn sub_items(chapter: &mut Map<String, Value>) -> Result<&mut Vec<Value>, String> {
    chapter.get_mut("sub_items").and_then(Value::as_array_mut).ok_or_else(|| "a chapter has no sub_items".to_string())
}

/// Whether a page has no file, because it was generated here.
fn is_made_here(item: &Value) -> bool {
    item["Chapter"]["source_path"].is_null()
}
