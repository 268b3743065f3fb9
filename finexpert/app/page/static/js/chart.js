// A chart of an answer's table, drawn by uPlot: drag to look closer, double click for all, arrows to go from point to point.

const { uPlot } = window;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// `light-dark()` is no colour for a canvas until the browser has worked it out for an element.
function worked(name) {
  const probe = document.createElement("span");
  probe.style.color = colour(name) || name;
  document.body.append(probe);
  const out = getComputedStyle(probe).color;
  probe.remove();
  return out;
}

function axes(shown) {
  const ink = worked("--ink-3");
  const line = worked("--line");
  const common = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px Inter, sans-serif" };
  const across = { ...common };
  if (shown.kind === "words") {
    const most = Math.max(1, Math.ceil(shown.words.length / 12));
    across.splits = (_, __, low, high) => shown.words.map((_, at) => at).filter((at) => at % most === 0 && at >= low && at <= high);
    across.values = (_, at) => at.map((each) => short(shown.words[each] ?? ""));
    across.grid = { show: false };
  }
  const wide = (_, labels) => 20 + 7 * Math.max(...(labels ?? [""]).map((label) => String(label).length));
  // 600M, and not nine digits; the points below the chart are told in full.
  const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });
  const plain = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });
  const values = (_, at) => at.map((each) => (Math.max(...at.map(Math.abs)) >= 1e6 ? compact : plain).format(each));
  return [across, { ...common, values, size: wide }];
}

function short(word) {
  return word.length > 16 ? `${word.slice(0, 15)}…` : word;
}

function said(shown) {
  const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 4 });
  const day = (at) => new Date(at * 1000).toISOString().slice(0, 10);
  const first = (_, at) => (at == null ? "–" : shown.kind === "words" ? shown.words[at] : shown.kind === "time" ? day(at) : number.format(at));
  const bars = shown.kind === "words" ? uPlot.paths.bars({ size: [0.7, 60], radius: 0.08 }) : undefined;
  const rest = shown.names.map((name, at) => {
    const stroke = worked(`--line-${(at % 6) + 1}`);
    return {
      label: name,
      stroke,
      width: 2,
      fill: bars ? stroke : undefined,
      paths: bars,
      points: { show: shown.x.length < 40 && !bars },
      value: (_, value) => (value == null ? "–" : number.format(value)),
    };
  });
  return [{ label: shown.along, value: first }, ...rest];
}

function options(shown, width) {
  const scales = { x: { time: shown.kind === "time" } };
  if (shown.kind === "words") scales.x.range = () => [-0.6, shown.x.length - 0.4];
  if (shown.kind === "words") scales.y = { range: (_, low, high) => uPlot.rangeNum(Math.min(0, low), Math.max(0, high), 0.1, true) };
  return { width, height: 300, scales, axes: axes(shown), series: said(shown), tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "UTC") };
}

export function startChart(place) {
  const shown = JSON.parse(place.querySelector("script").textContent);
  let plot = null;
  const draw = () => {
    plot?.destroy();
    if (!place.isConnected) return document.removeEventListener("theme-changed", draw);
    plot = new uPlot(options(shown, Math.max(240, place.clientWidth)), [shown.x, ...shown.series], place);
  };
  const fit = () => plot && place.clientWidth && plot.setSize({ width: Math.max(240, place.clientWidth), height: 300 });
  new ResizeObserver(fit).observe(place);
  document.addEventListener("theme-changed", draw);
  place.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || !plot) return;
    event.preventDefault();
    const at = Math.min(shown.x.length - 1, Math.max(0, (plot.cursor.idx ?? (by > 0 ? -1 : shown.x.length)) + by));
    plot.setCursor({ left: plot.valToPos(shown.x[at], "x"), top: plot.bbox.height / devicePixelRatio / 2 });
    tell(place, shown, at);
  });
  draw();
}

function tell(place, shown, at) {
  const along = shown.kind === "time" ? new Date(shown.x[at] * 1000).toISOString().slice(0, 10) : (shown.words?.[at] ?? shown.x[at]);
  const values = shown.names.map((name, each) => `${name} ${shown.series[each][at] ?? "none"}`);
  place.parentElement.querySelector("[role=status]").textContent = `${along}: ${values.join(", ")}`;
}
