// A plugin of typedoc. Titles pages of the site by their headings, up to a colon, and groups them by folder; names modules
// as programs import them.
import { Converter, ReflectionKind } from "typedoc";

const GROUPS = [
  [/\/docs\/guides\//, "Guides"],
  [/\/docs\/decisions\//, "Decisions"],
  [/\/docs\//, "Reference"],
  [/./, "Project"],
];

export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, module) => {
    if (module.kindOf(ReflectionKind.Module)) {
      module.name = module.name === "index" ? "zarrflow" : `zarrflow/${module.name}`;
    }
  });
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, page) => {
    const [, title] = /^# (.+?)(?:: .+)?\n/.exec(page.content[0]?.text ?? "") ?? [];
    if (title === undefined) throw new Error(`a page without a heading: ${page.name}`);
    page.name = title.replaceAll("`", "");
    const file = page.project.files.getReflectionPath(page) ?? "";
    page.frontmatter.group = GROUPS.find(([pattern]) => pattern.test(file))?.[1];
  });
}
