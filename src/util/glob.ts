import { ZarrflowError } from "./errors.ts";

/**
 * Returns a function that is true for paths that match a glob. Within a name, `*` matches any characters, `?` one,
 * `[a-z]` one in the range, `[!a-z]` one outside it. `**` matches any number of names, `{a,b}` either alternative,
 * and `\` makes the next character literal. A glob without a slash matches names at any depth, one with a slash
 * matches paths from the root.
 *
 * @throws `invalid-option` for an unclosed bracket or brace, and for an empty glob.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const pattern = glob.replace(/^\/|\/$/g, "");
  if (pattern === "") throw new ZarrflowError("invalid-option", "the glob is empty", { value: glob });
  const isName = !/\/./.test(glob);
  const expression = new RegExp(`^(?:${isName ? "(?:.*/)?" : ""}${translated(pattern, glob)})$`, "su");
  return (path) => expression.test(path);
}

const TOKEN = /\\(?<plain>.)|(?<names>(?<=^|\/)\*\*(?:\/|$))|\[(?<not>!?)(?<set>[^\]/]+)\]|(?<other>.)/gsu;

/** Translates a glob to the source of a regular expression. */
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
    throw new ZarrflowError("invalid-option", "the range in brackets is in reverse order", { value: glob });
  }
  return source;
}

function escaped(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&");
}

function unclosed(glob: string): ZarrflowError {
  return new ZarrflowError(
    "invalid-option",
    "the glob has an unclosed bracket or brace, or ends in a backslash",
    {
      value: glob,
      hint: "Put a backslash before special characters that are part of a name.",
    },
  );
}
