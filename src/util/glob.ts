import { ZarrflowError } from "./errors.ts";

/**
 * Whether a glob matches a path. Within a name, `*` is any characters, `?` one, `[a-z]` one of these, `[!a-z]` one
 * of no others; `**` is any number of names; `{a,b}` one or the other; `\` makes the next character plain. A glob
 * without a slash means names at any depth, one with a slash a path from the root on.
 *
 * @throws `invalid-option` for a bracket or brace that is not closed, and a glob that is empty.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const pattern = glob.replace(/^\/|\/$/g, "");
  if (pattern === "") throw new ZarrflowError("invalid-option", "a glob is empty", { value: glob });
  const isName = !/\/./.test(glob);
  const expression = new RegExp(`^(?:${isName ? "(?:.*/)?" : ""}${translated(pattern, glob)})$`, "su");
  return (path) => expression.test(path);
}

const TOKEN = /\\(?<plain>.)|(?<names>(?<=^|\/)\*\*(?:\/|$))|\[(?<not>!?)(?<set>[^\]/]+)\]|(?<other>.)/gsu;

/** The source of the regular expression that a glob means. */
function translated(pattern: string, glob: string): string {
  let braces = 0;
  let source = "";
  for (const { groups = {} } of pattern.matchAll(TOKEN)) {
    const { plain, names, not, set, other } = groups;
    if (plain !== undefined) source += escaped(plain);
    else if (names !== undefined) source += names.endsWith("/") ? "(?:[^/]+/)*" : ".+";
    else if (set !== undefined) source += characters(set, not === "!", glob);
    else if (other === "*") source += "[^/]*";
    else if (other === "?") source += "[^/]";
    else if (other === "{") source += "(?:";
    else if (other === "}") source += ")";
    else if (other === "," && braces > 0) source += "|";
    else if (other === "[" || other === "\\") throw unclosed(glob);
    else source += escaped(other ?? "");
    if (other === "{") braces++;
    if (other === "}" && --braces < 0) throw unclosed(glob);
  }
  if (braces !== 0) throw unclosed(glob);
  return source;
}

function characters(set: string, isNegated: boolean, glob: string): string {
  const source = `(?!/)[${isNegated ? "^" : ""}${set.replace(/[\\^[\]&~|]/gu, "\\$&")}]`;
  try {
    new RegExp(source, "u");
  } catch {
    throw new ZarrflowError("invalid-option", "a range in brackets is in the wrong order", { value: glob });
  }
  return source;
}

function escaped(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&");
}

function unclosed(glob: string): ZarrflowError {
  return new ZarrflowError("invalid-option", "a bracket, a brace or a backslash in a glob is not closed", {
    value: glob,
    hint: "Put a backslash before a character that is part of a name.",
  });
}
