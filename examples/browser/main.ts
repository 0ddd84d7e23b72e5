import { viewAnswers } from "../../src/cli/view/answer.ts";
import { el, fill, labeled } from "../../src/cli/view/page/dom.ts";
import { askInstead } from "../../src/cli/view/page/requests.ts";
import { showView } from "../../src/cli/view/page/view.ts";
import { ViewedSource } from "../../src/flows/view/viewed-source.ts";
import { FilesStore } from "../../src/stores/file-system.ts";
import { type Opened, openDropped, openZip, sourceAt } from "./open-files.ts";
import { TakeAway } from "./take-away.ts";

declare const VERSION: string;

/** Memory budget of the page's reads. */
const VIEW_MEMORY = "256MB";

const view = el("div", { class: "view" });
const status = el("p", { class: "status", role: "status" });
const url = el("input", { type: "url", required: true, placeholder: "https://…/data.zarr" });
const zip = el("input", { type: "file", accept: ".zip,.ozx" });
const folder = el("input", { type: "file", webkitdirectory: true });
/** Closes the current view. */
let close = async () => {};
let opening = 0;

/** Opens data and shows them, unless the user opens something else in the meantime. */
async function show(open: () => Promise<Opened>): Promise<void> {
  const turn = ++opening;
  fill(status, "opening …");
  try {
    const opened = await open();
    const { name, source } = opened;
    const viewed = await ViewedSource.open(name, { maxMemory: VIEW_MEMORY }, sourceAt(opened, ""));
    if (turn !== opening) return await viewed.close();
    await close();
    const answers = viewAnswers(viewed, VERSION);
    askInstead(async (what, asked, signal) => {
      signal.throwIfAborted();
      return (await answers(what, asked, signal)) ?? new Response(null, { status: 404 });
    });
    fill(status, "");
    const stop = showView(view, {
      panelOf: (path, array) => new TakeAway(sourceAt(opened, path), zipName(name, path), array),
    });
    close = async () => {
      stop();
      await viewed.close();
      if (typeof source !== "string") await source.close?.();
    };
  } catch (error) {
    if (turn !== opening) return;
    const { message, details } = error as Error & { readonly details?: { readonly hint?: string } };
    fill(status, el("span", { class: "failure" }, [message, details?.hint].filter(Boolean).join(". ")));
  }
}

/** The file name for the zip of an array. */
function zipName(name: string, path: string): string {
  const [base = "data"] = name.replace(/\/$/, "").split("/").slice(-1);
  return `${[base.replace(/\.(?:zip|ozx|zarr)$/gi, "").replace(/\.zarr$/i, ""), ...path.split("/").filter(Boolean)].join("-")}.zarr.zip`;
}

const form = el(
  "form",
  {
    onsubmit(event: Event) {
      event.preventDefault();
      void show(async () => ({ name: url.value, source: url.value }));
    },
  },
  labeled("URL", url),
  el("button", { type: "submit" }, "Open"),
);

zip.addEventListener("change", () => {
  const [file] = zip.files ?? [];
  if (file) void show(() => openZip(file));
});
folder.addEventListener("change", () => {
  const store = FilesStore.ofInput(folder.files ?? []);
  const name = store.description.replace(/^folder /, "");
  if (folder.files?.length) void show(async () => ({ name, source: store }));
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const { dataTransfer } = event;
  if (dataTransfer === null) return;
  const dropped = openDropped(dataTransfer);
  void show(() => dropped);
});

fill(
  document.body,
  el(
    "section",
    { class: "open", "aria-label": "Open" },
    el("p", {}, "Drop a zip or a folder of Zarr data anywhere on this page, choose one, or give a URL."),
    el("div", { class: "ways" }, form, labeled("Zip", zip), labeled("Folder", folder)),
    status,
  ),
  view,
);
const asked = new URLSearchParams(location.search).get("url");
if (asked) {
  url.value = asked;
  form.requestSubmit();
}
