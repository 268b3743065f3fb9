"""Words of an HTML filing that no person sees are no words of the filing; words that are seen stay."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from finexpert.errors import LibraryError
from finexpert.filings.readers.cover import Given
from finexpert.filings.readers.files import ReadFiling, checksum, read_file
from finexpert.filings.readers.html import read_html

SECRET = "net income was 999"


def words(body: str, sheet: str = "") -> str:
    page = (
        f"<html><head><style>{sheet}</style></head><body><p>Net sales rose.</p>{body}<p>Costs fell.</p></body></html>"
    )
    found = read_html(page.encode(), "x.html")
    text = "\n".join(page.text for page in found.pages)
    assert text.startswith("Net sales rose.")
    assert text.endswith("Costs fell.")
    return text


HIDDEN_BY_STYLE = [
    "color:rgb(100% 100% 100%)",
    "color:rgb(255 255 255 / 0)",
    "color:rgb(0 0 0 / 1%)",
    "color:hsl(0 0% 100%)",
    "display:none/**/",
    "display:/* x */none",
    "display:var(--x,none)",
    "opacity:calc(0)",
    "clip-path:inset(100%)",
    "clip-path:polygon(0 0,0 0,0 0)",
    "clip-path:ellipse(0 0)",
    "scale:0",
    "scale:0 1",
    "zoom:0",
    "translate:-9999px",
    "position:absolute;inset:-9999px auto auto -9999px",
    "margin:-9999px",
    "margin:0 0 0 -9999px",
    "block-size:0;overflow:hidden",
    "max-inline-size:0;overflow:hidden",
    "display:none",
    "DISPLAY : None !important",
    "display:block;display:none",
    "visibility:hidden",
    "visibility:collapse",
    "opacity:0",
    "opacity:0.01",
    "opacity:1%",
    "font-size:0",
    "font-size:0.5px",
    "font-size:1%",
    "font: 0/0 a",
    "font-size:1pt",
    "color:#fff",
    "color:white",
    "color:#fefefe",
    "color:rgb(255,255,255)",
    "color:transparent",
    "color:rgba(0,0,0,0)",
    "color:#333;background:#333",
    "background-color:black",
    "-webkit-text-fill-color:transparent",
    "position:absolute;left:-9999px",
    "position:absolute;top:-1000em",
    "position:fixed;right:-9999px",
    "margin-left:-9999px",
    "text-indent:-9999px",
    "position:absolute;clip:rect(0,0,0,0)",
    "position:absolute;clip:rect(1px 1px 1px 1px)",
    "position:absolute;clip-path:inset(50%)",
    "height:0;overflow:hidden",
    "max-height:0;overflow:hidden",
    "width:1px;height:1px;overflow:hidden",
    "width:0;overflow-x:clip",
    "transform:scale(0)",
    "transform:translateX(-9999px)",
    "filter:opacity(0)",
    "clip-path:circle(0)",
    "content-visibility:hidden",
    "mso-hide:all",
]


@pytest.mark.parametrize("style", HIDDEN_BY_STYLE)
@pytest.mark.parametrize("tag", ["div", "span"])
def test_words_hidden_by_a_style_are_not_read(style: str, tag: str) -> None:
    assert SECRET not in words(f'<p>a <{tag} style="{style}">{SECRET}</{tag}></p>')
    assert SECRET not in words(f'<{tag} class="x y"><b>{SECRET}</b></{tag}>', f"p{{margin:1px}} .y {{{style}}}")


@pytest.mark.parametrize(
    ("body", "sheet"),
    [
        (f"<p id=a>{SECRET}</p>", "#a{display:none}"),
        (f"<div class=a><p>x</p><p>{SECRET}</p></div>", ".a > p + p {display:none}"),
        (f"<p class=a>{SECRET}</p>", "@media screen {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@media (min-width:1px) {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@media not print {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@layer x {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@layer x {@supports (display:grid) {@media screen {.a{display:none}}}}"),
        (f"<p class=a>{SECRET}</p>", "@container (width > 0) {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@scope (body) {.a{display:none}}"),
        (f"<div class=b><p class=a>{SECRET}</p></div>", ".b{color:red; .a{display:none}}"),
        (f"<div class=b><p class=a>{SECRET}</p></div>", ".c, .b{& > .a{display:none}}"),
        (f"<p class='a b'>{SECRET}</p>", ".b{&.a{@media screen{display:block} } &.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", ":root{--a:none} .a{display:var(--a)}"),
        (f"<p class=a>{SECRET}</p>", ".a{color:var(--w)} :root{--w:var(--v);--v:#fff}"),
        (f"<div popover>{SECRET}</div>", ""),
        (f"<div><ix:hidden>{SECRET}</ix:hidden></div>", ""),
        (f"<p class=a>{SECRET}</p>", ".a{display:none!important} p.a{display:block}"),
        (f"<p class=a style='display:block'>{SECRET}</p>", ".a{display:none !important}"),
        (f"<p class=a>{SECRET}</p>", "b{color:red /* } */} .a{color:#fff}"),
        (f"<p class=a>{SECRET}</p>", "body{background:#123456} .a{color:#123456}"),
        (f"<p hidden>{SECRET}</p>", ""),
        (f"<font color=white>{SECRET}</font>", ""),
        (f"<font color=#FFFFFF>{SECRET}</font>", ""),
        (f"<table bgcolor=000080><tr><td style='color:navy'>{SECRET}</td></tr></table>", ""),
        (f"<dialog>{SECRET}</dialog>", ""),
        (f"<template>{SECRET}</template><noscript>{SECRET}</noscript>", ""),
        (f"<table><tr><td>Sales</td><td>5</td></tr><tr style='display:none'><td>{SECRET}</td><td>9</td></tr></table>", ""),
        (f"<table><tbody hidden><tr><td>{SECRET}</td><td>9</td></tr></tbody><tr><td>Sales</td><td>5</td></tr></table>", ""),
        (f"<table><tr><td>Sales</td><td>5<i style='font-size:0'>{SECRET}</i></td></tr><tr><td>Costs</td><td>4</td></tr></table>", ""),
        (f"<div style='visibility:hidden'>{SECRET}<p style='visibility:visible'>seen</p></div>", ""),
        (f"<div style='color:white'><b></b>{SECRET}</div>", ""),
        (f"<div style='font-size:0'><b style='font-size:5em'>{SECRET}</b></div>", ""),
    ],
)  # fmt: skip
def test_words_hidden_otherwise_are_not_read(body: str, sheet: str) -> None:
    found = words(body, sheet)
    assert SECRET not in found
    assert ("seen" in found) is ("seen" in body)


@pytest.mark.parametrize(
    ("body", "sheet"),
    [
        (f"<p class=a>{SECRET}</p>", ".b{display:none}"),
        (f"<p class=a>{SECRET}</p>", "@media print {.a{display:none}}"),
        (f"<p class=a style='display:block'>{SECRET}</p>", ".a{display:none}"),
        (f"<p class='a b'>{SECRET}</p>", ".a{display:none} .b{display:block}"),
        (f"<p id=a class=a>{SECRET}</p>", "#a{display:block} .a{display:none}"),
        (f"<p class=a>{SECRET}</p>", "@media (max-width:600px) {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@media (prefers-color-scheme:dark) {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@media (min-width:9000px) {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@supports not (display:grid) {.a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", "@layer x; @import url(x.css); @page {margin:0} @font-face {font-size:0}"),
        (f"<p class=a>{SECRET}</p>", ".b{.a{display:none}} .b{& > .a{display:none}}"),
        (f"<p class=a>{SECRET}</p>", ".a{display:var(--x)} .a{color:var(--y, black)}"),
        (f"<p style='opacity:calc(1)'>{SECRET}</p>", ""),
        (f"<p style='color:rgb(0 0 0);background:rgb(255 255 255 / 90%)'>{SECRET}</p>", ""),
        (f"<p style='scale:1;zoom:0.9;translate:-3px;margin:3px -9px;inset:0'>{SECRET}</p>", ""),
        (f"<p style='clip-path:inset(10%)'>{SECRET}</p>", ""),
        (f"<p style='clip-path:polygon(0 0, 90px 0, 90px 90px)'>{SECRET}</p>", ""),
        (f"<p style='margin:0 auto;width:100%;overflow:hidden'>{SECRET}</p>", ""),
        (f"<div style='display:none'>x</div>{SECRET}", ""),
        (f"<table style='background-color:#0068b2'><tr><td style='color:#ffffff'>{SECRET}</td></tr></table>", ""),
        (f"<tr bgcolor=navy><td><font color=white>{SECRET}</font></td></tr>", ""),
        (f"<div style='background:url(dark.png)'><p style='color:white'>{SECRET}</p></div>", ""),
        (f"<div style='position:absolute;left:40px;top:12000px'>{SECRET}</div>", ""),
        (f"<div style='margin-left:-20px;text-indent:-24pt'>{SECRET}</div>", ""),
        (f"<div style='overflow:hidden;height:12pt;width:100%'>{SECRET}</div>", ""),
        (f"<div style='height:0'>{SECRET}</div>", ""),
        (f"<div style='color:#eee;background:black'>{SECRET}</div>", ""),
        (f"<div style='color:#777'>{SECRET}</div>", ""),
        (f"<div style='font-size:6pt'>{SECRET}</div>", ""),
        (f"<div style='font:bold 10pt Arial'>{SECRET}</div>", ""),
        (f"<div style='font:400 10pt/0 Arial'>{SECRET}</div>", ""),
        (f"<div style='color:'>{SECRET}</div>", "}{ .a{display"),
        (f"<div style='opacity:0.9'>{SECRET}</div>", "{" * 5_000),
        (f"<p>{SECRET}</p>", "p:hover{display:none} p::before{display:none} p:nth-child(9){display:none}"),
    ],
)  # fmt: skip
def test_words_that_are_seen_are_read(body: str, sheet: str) -> None:
    assert SECRET in words(body, sheet)


@pytest.mark.parametrize("sign", ["\u200b", "\u2060", "\u202e", "\U000e0041", "\ufeff", "\u00ad"])
@pytest.mark.parametrize("name", ["a.html", "a.txt"])
def test_characters_that_nobody_sees_are_left_out(sign: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(
        f"<html><body><p>Net{sign} sa{sign}les</p></body></html>" if "html" in name else f"Net{sign} sa{sign}les"
    )
    (read,) = read_file(path, checksum(path), Given())
    assert isinstance(read, ReadFiling)
    assert read.pages[0].pre_text == ("Net sales",)


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<body><p>Net sales</p><p style='color:white'>{SECRET}</p></body>")
    (read,) = read_file(path, checksum(path), Given())
    assert isinstance(read, ReadFiling)
    assert read.notes[0] == f"4 words that nobody sees are left out, such as '{SECRET}'"


@pytest.mark.parametrize("tag", ["div", "b", "table><tr><td", "ul><li", "span style='color:red'"])
@pytest.mark.parametrize("depth", [300, 600, 5_000, 40_000])
def test_what_is_nested_is_read_whole_or_refused(tag: str, depth: int) -> None:
    content = f"<p>first</p>{f'<{tag}>' * depth}deep"
    if depth * (1 + tag.count("<")) > 2_000:
        with pytest.raises(LibraryError, match="nested deeper than 2,000"):
            read_html(content.encode(), "x.html")
    else:
        assert read_html(content.encode(), "x.html").pages[-1].text.endswith("deep")


@pytest.mark.parametrize("sheet", [
    ".a{color:var(--a)} :root{" + "".join(f"--{x}:{f'var(--{y}) ' * 300};" for x, y in zip("abcdefgh", "bcdefghi", strict=True)) + "}",
    ".a{" * 500 + "color:red" + "}" * 500,
    ".a{& & & & & &{" * 8 + "color:red" + "}}" * 8,
    "@layer x{" * 500 + ".a{color:red}" + "}" * 500,
    ".a{clip-path:polygon(" + " " * 500_000 + "0 0,9px 9px,0 9px)}",
    ".a{clip-path:polygon(0 0" + ",0 0" * 100_000 + ",9px 9px,0 9px)}",
    ".a{color:" + "rgb(" * 100_000 + "}",
])  # fmt: skip
def test_a_sheet_costs_no_more_than_its_size(sheet: str) -> None:
    began = time.process_time()
    assert SECRET in words(f"<p class=a>{SECRET}</p>", sheet)
    assert time.process_time() - began < 5
