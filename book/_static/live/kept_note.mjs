// A line that says how much of the book the browser keeps, with a button that lets go of it.

import { forget, keptBytes } from "./kept.mjs";

/** Gives { place, look }: where it stands, and how it is brought up to date. */
export function keptNote(base, words) {
  const place = document.createElement("p");
  place.className = "live-kept";
  place.setAttribute("role", "status");
  const text = document.createElement("span");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "live-button";
  button.textContent = words.forget;
  button.addEventListener("click", async () => {
    await forget(base);
    text.textContent = words.forgotten;
    button.hidden = true;
  });
  place.append(text, " ", button);
  place.hidden = true;

  /** `started`: whether something should have been kept by now. */
  async function look(started) {
    const bytes = await keptBytes(base);
    text.textContent = bytes ? words.kept.replace("{}", (bytes / 1e6).toFixed(0)) : words.nothingKept;
    button.hidden = !bytes;
    place.hidden = !bytes && !started;
  }
  look(false);
  return { place, look };
}
