const VOID = ["meta", "br", "line", "circle", "polygon", "polyline"];

/**
 * Reads a page as a strict parser would. Returns the names of its elements in order.
 *
 * @throws when tags do not match, an attribute is without quotes, or a bare `<` or `&` is left in text.
 */
export function elementsOf(page: string): string[] {
  const open: string[] = [];
  const names: string[] = [];
  let rest = page.replace(/^<!doctype html>/, "");
  while (rest !== "") {
    const [text = ""] = /^[^<]*/.exec(rest) ?? [];
    if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) throw new Error(`a bare & in ${JSON.stringify(text)}`);
    rest = rest.slice(text.length);
    if (rest === "") break;
    const [tag, slash, name = "", , end] =
      /^<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z][\w-]*="[^"<]*")*)\s*(\/?)>/.exec(rest) ?? [];
    if (tag === undefined) throw new Error(`no tag at ${JSON.stringify(rest.slice(0, 60))}`);
    rest = rest.slice(tag.length);
    if (slash) {
      if (open.pop() !== name) throw new Error(`</${name}> closes nothing`);
      continue;
    }
    names.push(name);
    if (name === "style") rest = rest.slice(rest.indexOf("</style>"));
    if (end || VOID.includes(name)) continue;
    open.push(name);
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(", ")}`);
  return names;
}
