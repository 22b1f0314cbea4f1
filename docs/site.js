/* In the head of every page of the site. A page that is opened from a folder (file:) may not fetch the index of the search:
   it gets a script. Colours follow the system until the reader chooses; the theme alone would keep those of the first visit. */
if (location.protocol === "file:")
  document.write(`<script src="${new URL("search/folder.js", document.currentScript.src)}"><\/script>`);
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
if (!__md_get("chosen"))
  __md_set("__palette", {index: dark ? 1 : 0, color: {scheme: dark ? "slate" : "default", primary: "teal", accent: ""}});
addEventListener("click", click => {
  if (click.target.closest("label[for^=__palette]")) __md_set("chosen", true);
});
