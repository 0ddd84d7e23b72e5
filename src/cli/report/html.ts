import { redact } from "../../util/redact.ts";

/** Markup that is safe to put into a page: everything but the templates of this program was escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Html | string | number | false | null | undefined | readonly Content[];

/** A template of markup; what is put in is escaped, unless it is markup itself. */
export function html(template: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(String.raw({ raw: template }, ...contents.map(markup)));
}

function markup(content: Content): string {
  if (content instanceof Html) return content.text;
  if (content === undefined || content === null || content === false) return "";
  if (Array.isArray(content)) return content.map(markup).join("");
  return escapeHtml(String(content));
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text of others: escaped, without credentials in URLs, and without characters that HTML forbids or that turn the direction of writing. */
function escapeHtml(text: string): string {
  return redact(text)
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
      /[\n\t]/.test(character) ? character : "\ufffd",
    );
}
