import { redact } from "../../util/redact.ts";

/** Markup that is safe in a page: everything except this program's own templates is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Html | string | number | false | null | undefined | readonly Content[];

/** A template of markup. Inserted content is escaped, unless it is markup itself. */
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

/**
 * Makes untrusted text safe: escapes it, removes credentials from URLs, and replaces characters that HTML forbids or
 * that change the direction of writing.
 */
function escapeHtml(text: string): string {
  return redact(text)
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
      /[\n\t]/.test(character) ? character : "\ufffd",
    );
}
