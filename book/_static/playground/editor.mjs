// A place to write a manifest. What is written goes to the terminal as a here-document: one command
// that can be read there, and that an address can carry.

/** A command that reads `text`. The word that ends it is none of the text's own lines. */
export function hereDocument(command, text) {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "").split("\n");
  let word = "EOF";
  while (lines.includes(word)) word += "_";
  return `${command} <<'${word}'\n${lines.join("\n")}\n${word}`;
}

export function makeEditor(words, longest, act) {
  const dialog = document.createElement("dialog");
  dialog.className = "play-editor";
  dialog.setAttribute("aria-labelledby", "play-editor-title");

  const form = document.createElement("form");
  form.method = "dialog";
  const title = document.createElement("h3");
  title.id = "play-editor-title";
  title.textContent = words.editTitle;

  const text = document.createElement("textarea");
  text.className = "play-manifest";
  text.rows = 16;
  text.maxLength = longest;
  text.spellcheck = false;
  text.autocapitalize = "none";
  text.placeholder = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\ndata:\n  key: value";
  const textLabel = document.createElement("label");
  textLabel.append(words.manifest, text);

  const name = document.createElement("input");
  name.className = "play-file";
  name.pattern = "[\\w][\\w.\\-]*";
  name.value = "mine.yaml";
  name.autocapitalize = "none";
  name.spellcheck = false;
  const nameLabel = document.createElement("label");
  nameLabel.append(`${words.fileName} `, name);

  const said = document.createElement("p");
  said.setAttribute("role", "status");

  function button(label, value, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "play-button";
    made.value = value;
    made.textContent = label;
    made.addEventListener("click", action);
    return made;
  }

  function hand(command) {
    if (!text.value.trim()) {
      said.textContent = words.nothingWritten;
      text.focus();
      return;
    }
    dialog.close();
    act.type(hereDocument(command, text.value));
  }

  function keep() {
    if (name.value && name.checkValidity()) hand(`cat > ${name.value}`);
    else {
      said.textContent = words.noFileName;
      name.focus();
    }
  }

  const apply = () => hand("kubectl apply -f -");
  const bar = document.createElement("div");
  bar.className = "play-bar";
  bar.append(
    button(words.apply, "apply", apply),
    nameLabel,
    button(words.keep, "keep", keep),
    button(words.close, "close", () => dialog.close()),
  );
  form.append(title, textLabel, said, bar);
  form.addEventListener("submit", (event) => {
    event.preventDefault(); // Enter in the file's name
    keep();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      apply();
    }
  });
  dialog.append(form);
  dialog.addEventListener("close", () => act.closed());

  return {
    place: dialog,
    /** Shows it, with a text if there is one; else with what was last written. */
    open(given = "") {
      if (given) text.value = given.slice(0, longest);
      said.textContent = given.length > longest ? words.tooLongToWrite : "";
      dialog.showModal();
      text.focus();
    },
  };
}
