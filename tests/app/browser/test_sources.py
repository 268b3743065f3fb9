"""Sources on the page: a file is dropped and asked, an address is not shown again, values are published and hidden."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from tests.app.browser.conftest import Visitor

ORDERS = "desk,amount,day\nrates,5,2020-01-01\ncredit,7,2020-02-01\nrates,2,2020-03-01\n"


def connected(visitor: Visitor, file: Path) -> None:
    visitor.go("/sources")
    visitor.page.locator("#file").set_input_files(file)
    visitor.page.get_by_role("button", name="Connect the file").click()


def test_a_csv_is_connected_and_asked(visitor: Visitor, desk: Any, tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text(ORDERS)
    connected(visitor, file)
    visitor.page.wait_for_url("**/sources/*")
    assert visitor.page.locator("h1").inner_text() == "orders"
    assert "desk" in visitor.page.locator(".table-wrap tbody").inner_text()
    desk.says(
        "planning",
        desk.plan(select="SELECT sum(amount) AS amount FROM orders", columns=("amount",), code="", kind="integer"),
    )
    visitor.page.get_by_role("link", name="Ask it").click()
    visitor.page.wait_for_url("**/?source=*")
    visitor.ask("What is the total amount?")
    assert visitor.last.locator(".value").inner_text().startswith("14")


def test_a_file_that_is_dropped_goes_into_the_form(visitor: Visitor) -> None:
    page = visitor.go("/sources")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["a,b\\n1,2\\n"], "dropped.csv", {type: "text/csv"}));
          document.querySelector("[data-drop]").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }"""
    )
    assert page.locator("[data-name]").inner_text() == "dropped.csv"
    page.get_by_role("button", name="Connect the file").click()
    page.wait_for_url("**/sources/*")
    assert page.locator("h1").inner_text() == "dropped"


def test_what_is_no_table_is_refused_in_words(visitor: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "page.exe"
    file.write_bytes(b"MZ" + bytes(100))
    connected(visitor, file)
    visitor.page.locator("#toasts .note").wait_for()
    assert visitor.page.url.endswith("/sources")
    assert str(tmp_path) not in visitor.page.locator("#toasts").inner_text()


def test_an_address_is_not_shown_again(visitor: Visitor, tmp_path: Path) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "secretplace.parquet")
    page = visitor.go("/sources")
    assert page.locator("#address").get_attribute("type") == "password"
    page.locator("#name").fill("Prices")
    page.locator("#address").fill(str(tmp_path / "secretplace.parquet"))
    page.get_by_role("button", name="Connect", exact=True).click()
    page.wait_for_url("**/sources/*")
    assert page.locator("h1").inner_text() == "Prices"
    assert str(tmp_path) not in page.content()


def test_values_are_published_and_hidden(visitor: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text(ORDERS)
    connected(visitor, file)
    page = visitor.page
    page.wait_for_url("**/sources/*")
    page.get_by_role("button", name="Values of desk").click()
    page.locator("#dialog .chip").first.wait_for()
    assert sorted(page.locator("#dialog .chip").all_inner_texts()) == ["credit", "rates"]
    with page.expect_navigation():
        page.get_by_role("button", name="Let models see them").click()
    row = page.locator(".table-wrap tbody tr").first
    assert "credit" in row.inner_text()
    row.get_by_role("button").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Hide them from models").click()
    assert "nothing" in page.locator(".table-wrap tbody tr").first.inner_text()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove").click()
    page.wait_for_url("**/sources")
    assert "orders" not in page.locator(".entries").inner_text()


def test_rows_of_a_small_table_are_published_and_hidden(visitor: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "rules.csv"
    file.write_text("key,text\nfy,begins in October\ncases,of 6 pieces\n")
    connected(visitor, file)
    page = visitor.page
    page.wait_for_url("**/sources/*")
    assert "seems to hold rules or words of your house" in page.locator("main").inner_text()
    page.get_by_role("button", name="Rows of rules").click()
    page.locator("#dialog .chip").first.wait_for()
    assert sorted(page.locator("#dialog .chip").all_inner_texts()) == ["cases | of 6 pieces", "fy | begins in October"]
    with page.expect_navigation():
        page.get_by_role("button", name="Let models see them").click()
    assert "begins in October" in (page.locator("details pre").text_content() or "")
    page.get_by_role("button", name="Rows of rules").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Hide them from models").click()
    assert "begins in October" not in (page.locator("details pre").text_content() or "")


def test_the_semantic_model_is_edited_tried_and_taken_back(visitor: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text(ORDERS)
    connected(visitor, file)
    page = visitor.page
    page.wait_for_url("**/sources/*")
    page.get_by_role("link", name="What the tables mean").click()
    page.wait_for_url("**/model")
    area = page.get_by_label("The semantic model")
    draft = area.input_value()
    assert "a draft from the catalogue" in page.locator(".page-head").inner_text()
    area.fill(draft.replace("source: orders", "source: nothing"))
    page.get_by_role("button", name="Try it and keep it").click()
    page.get_by_text("this model does not fit").wait_for()
    for text in (draft, draft.replace("- name: desk", "- name: desk\n      description: the desk that traded")):
        area.fill(text)
        with page.expect_navigation():
            page.get_by_role("button", name="Try it and keep it").click()
    assert "version 2" in page.locator(".page-head").inner_text()
    page.get_by_text("What it changed").first.click()
    assert "the desk that traded" in page.locator(".entries").inner_text()
    with page.expect_navigation():
        page.get_by_role("button", name="Go back to it").first.click()
    assert "the desk that traded" not in area.input_value()
    assert "version 3" in page.locator(".page-head").inner_text()
