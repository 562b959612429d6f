#!/usr/bin/env python3
"""Follows every link between the pages of a rendered book, and into the checkout it was rendered from.

    tools/check_links.py target/book

What leads to another host is left alone. A link that leads nowhere is printed, and the status is 1 then.
"""

import pathlib
import sys
import urllib.parse
from html.parser import HTMLParser


class Page(HTMLParser):
    """The places on a page, and what it links to."""

    def __init__(self, text):
        super().__init__()
        self.places = set()
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.places.update(attrs[key] for key in ("id", "name") if attrs.get(key))
        for key in ("href", "src"):
            if attrs.get(key):
                self.links.append(attrs[key])


def faults(pages, path):
    """The links of a page that lead nowhere."""
    for link in pages[path].links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        name = urllib.parse.unquote(parts.path)
        target = (path.parent / name).resolve() if name else path
        place = urllib.parse.unquote(parts.fragment)
        if not target.exists() or (place and target in pages and place not in pages[target].places):
            yield link


def main(book):
    root = pathlib.Path(book).resolve()
    # All chapters on one page repeat what is checked by itself, and a page for what is not found has no place of its own.
    left_out = {"print.html", "404.html", "toc.html"}
    paths = [path for path in sorted(root.rglob("*.html")) if path.name not in left_out]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    found = [(path.relative_to(root), link) for path in paths for link in faults(pages, path)]
    for path, link in found:
        print(f"{path}: {link} leads nowhere")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {len(found)} lead nowhere")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
