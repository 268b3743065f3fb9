// Starts what a page holds, and again what htmx puts into it.

import { startChart } from "./chart.js";
import { startComposer } from "./composer.js";
import { startEditor, startSql } from "./editor.js";
import { startDrop } from "./drop.js";
import { startKeys } from "./keys.js";
import { startPanels, startDialogs, startShows } from "./surfaces.js";
import { startTheme } from "./theme.js";
import { startClocks, startToasts } from "./notices.js";
import { startTalk } from "./talk.js";

const PARTS = [
  ["[data-chart]", startChart],
  ["[data-composer]", startComposer],
  ["[data-editor]", startEditor],
  ["[data-sql]", startSql],
  ["[data-drop]", startDrop],
  ["[data-shows]", startShows],
];

function start(root) {
  for (const [selector, begin] of PARTS) {
    for (const element of root.querySelectorAll(selector)) once(element, begin);
    if (root.matches?.(selector)) once(root, begin);
  }
}

function once(element, begin) {
  if (element.dataset.started) return;
  element.dataset.started = "yes";
  begin(element);
}

startKeys();
startPanels();
startDialogs();
startTheme();
startClocks();
startToasts();
startTalk();
start(document);
document.body.addEventListener("htmx:load", (event) => start(event.detail.elt));
