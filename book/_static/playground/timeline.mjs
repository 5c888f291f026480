// One bar for each pod: what became of it, and when.

const SVG = "http://www.w3.org/2000/svg";
const BAR = 16;
const WIDEST = 760;
const NARROW = 520; // a telephone: a pod's name stands above its bar there, not beside it
const NICE = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function moment(seconds) {
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min${seconds % 60 ? ` ${seconds % 60} s` : ""}`;
}

export function drawTimeline(place, pods, now, words) {
  if (!pods.length) {
    place.replaceChildren(Object.assign(document.createElement("p"), { textContent: words.noPods }));
    return;
  }
  const first = Math.floor(Math.min(...pods.map((pod) => pod.states[0][0])));
  const span = Math.max(10, now - first);
  const wide = Math.max(280, Math.min(WIDEST, place.clientWidth || WIDEST)); // so many pixels: letters keep their size
  const narrow = wide < NARROW;
  const [left, above] = narrow ? [0, 18] : [190, 3];
  const rowHeight = above + BAR + 3;
  const x = (at) => left + ((at - first) / span) * (wide - left - 8);
  const height = pods.length * rowHeight + 24;
  const ready = pods.filter((pod) => pod.end === null && pod.states[pod.states.length - 1][2] === "ready").length;
  const picture = shape("svg", {
    viewBox: `0 0 ${wide} ${height}`,
    role: "img",
    "aria-label": words.timelineSays.replace("{pods}", pods.length).replace("{ready}", ready).replace("{now}", now.toFixed(0)),
  });
  const step = NICE.find((each) => span / each <= (narrow ? 3 : 6)) ?? NICE[NICE.length - 1];
  for (let at = Math.ceil(first / step) * step; at <= now; at += step) {
    picture.append(shape("line", { x1: x(at), x2: x(at), y1: 0, y2: height - 18, class: "play-grid" }));
    picture.append(shape("text", { x: x(at), y: height - 5, class: "play-tick" }, moment(at)));
  }
  pods.forEach((pod, row) => {
    const y = row * rowHeight + above;
    picture.append(shape("text", { x: 0, y: narrow ? y - 5 : y + 12, class: "play-name" }, pod.name));
    pod.states.forEach(([at, status, looks], index) => {
      const until = index + 1 < pod.states.length ? pod.states[index + 1][0] : (pod.end ?? now);
      const width = Math.max(1, x(until) - x(at));
      const bar = shape("rect", { x: x(at), y, width, height: BAR, class: `play-bar-${looks}` });
      bar.append(shape("title", {}, `${pod.name}: ${status}, ${at.toFixed(1)} s – ${until.toFixed(1)} s`));
      picture.append(bar);
      if (width > status.length * 6.6 + 6) {
        picture.append(shape("text", { x: x(at) + 4, y: y + 12, class: "play-status" }, status));
      }
    });
  });
  place.replaceChildren(picture);
}
