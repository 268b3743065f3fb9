// A text area whose SQL is coloured: the coloured copy lies under it. All text goes in as text, never as HTML.

const WORDS = new Set(
  ("ALL AND AS ASC BETWEEN BY CASE CAST CROSS DATE DESC DISTINCT ELSE END EXCEPT EXISTS FALSE FILTER FIRST FOLLOWING FROM FULL GROUP " +
    "HAVING ILIKE IN INNER INTERSECT INTERVAL IS JOIN LAST LATERAL LEFT LIKE LIMIT MEASURE NATURAL NOT NULL NULLS OFFSET ON OR ORDER " +
    "OUTER OVER PARTITION PRECEDING QUALIFY RANGE RECURSIVE RIGHT ROW ROWS SELECT THEN TIMESTAMP TRUE UNBOUNDED UNION USING VALUES WHEN " +
    "WHERE WINDOW WITH").split(" "),
);
const TOKEN = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*'?)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_]\w*)|([\s\S])/g;

function kind(match) {
  if (match[1]) return "c";
  if (match[2]) return "s";
  if (match[3]) return "m";
  return match[4] && WORDS.has(match[4].toUpperCase()) ? "k" : "";
}

export function coloured(text) {
  const fragment = document.createDocumentFragment();
  for (const match of text.matchAll(TOKEN)) {
    const name = kind(match);
    if (!name) {
      fragment.append(match[0]);
      continue;
    }
    const span = document.createElement("span");
    span.className = name;
    span.textContent = match[0];
    fragment.append(span);
  }
  return fragment;
}

export function startSql(place) {
  place.replaceChildren(coloured(place.textContent));
}

export function startEditor(box) {
  const area = box.querySelector("textarea");
  const under = box.querySelector("pre");
  const draw = () => under.replaceChildren(coloured(area.value), "\n");
  area.addEventListener("input", draw);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      area.form?.requestSubmit();
    }
  });
  draw();
}
