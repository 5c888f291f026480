// A classic script: from a file a browser loads no modules, so live.mjs cannot say why nothing runs.
if (location.protocol === "file:") {
  const page = JSON.parse(document.getElementById("live-page").textContent);
  const bar = document.createElement("div");
  bar.className = "live-bar";
  const state = document.createElement("span");
  state.className = "live-state";
  state.textContent = page.words.file;
  bar.append(state);
  document.querySelector("article.bd-article h1").after(bar);
}
