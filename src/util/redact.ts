/** Replaces a secret. */
const HIDDEN = "***";

/** A character, plain or percent-encoded any number of times. */
const encodable = (sign: string, hex: string) => `(?:${sign}|%(?:25)*(?:${hex}))`;

/** The start of a URL with a host, as URL parsers read it: slashes of both kinds, in any number. */
const SCHEME = [
  String.raw`(?<![\w+.-])(?!file:)[a-z][\w+.-]+:[\\/][\\/\t\r\n]*`,
  String.raw`\bfile:\/{1,2}`,
  String.raw`\bhttps?:`,
  String.raw`(?<![\w+.-])[a-z][\w+.-]*%(?:25)*3a${encodable(String.raw`[\\/]`, "2f|5c")}+`,
].join("|");

/** A quote or bracket within a word, which does not end the value. */
const ODD = String.raw`["'<>](?=[\w!$%&*+=~-])`;

/**
 * A user's name and password in front of a host. The password may contain characters that should be encoded, such as
 * a slash.
 */
const USER = new RegExp(
  [
    `(${SCHEME})(?:`,
    String.raw`(?:(?!%(?:25)*(?:2f|3f|23))[^/?#\s"'\\<>]|${ODD})*${encodable("@", "40")}`,
    String.raw`|(?:[^/?#\s"'\\<>@:[]|${ODD})*:(?!:|\d*(?:[/?#]|$))\S{0,512}@`,
    String.raw`|[^/?#\s"'\\<>@:[]*:(?![:\s]|\d*(?:[/?#\s,;.)]|$))[^\r\n"'<>@]{0,256}@(?:[^\s/@]*@)*`,
    ")",
  ].join(""),
  "gi",
);

/**
 * Names of parameters whose values grant access or help to: those of clouds, and names that services commonly use.
 */
const SECRETS = [
  String.raw`x-(?:amz|goog|ms|oss)-[\w-]+`,
  String.raw`(?:[\w.-]*[_.-])?(?:sig|sign|pass|pwd|pw|auth|authorization|hmac)`,
  String.raw`[\w.-]*(?:signature|tokens?|secrets?|passwd|password|passphrase|credentials?)`,
  String.raw`(?:[\w.-]*[_.-])?(?:api|access|account|secret|private|shared|subscription|auth|(?:aws|oss)(?:access|secret))?[_-]?key(?:[_-]?(?:id|pair-id))?`,
  "googleaccessid|key-pair-id|policy|jwt|sas|hdnts|hdnea|code|bearer|ticket|sid|session(?:id)?",
].join("|");

const SECRET_NAME = new RegExp(String.raw`^(?:\w+\[)?(?:${SECRETS})\]?$`, "i");

/** A parameter's name between its separator and `=`. */
const NAME = new RegExp(
  String.raw`${encodable("[?&;#]", "3f|26|3b|23")}((?:[\w.~[\]+-]|%(?!(?:25)*(?:3f|26|3b|23|3d)))+)${encodable("=", "3d")}`,
  "gi",
);

/** A parameter's value, up to its end. */
const VALUE = new RegExp(
  String.raw`(?:[^&;#\s|'"<>)\\\x60]|${ODD}|\)(?=[\w%])|;(?=[\w%])(?![^&;#=\s|'"]*?${encodable("=", "3d")}))*`,
  "y",
);

/**
 * Queries of URLs that this process was given, hidden by their text, because parameters that grant access can have
 * any name.
 */
const secrets = new Set<string>();
/** Longest first, because one may be a prefix of another. */
let longestFirst: readonly string[] = [];
/** The most queries to keep; the oldest are dropped. */
const MAX_SECRETS = 100;

/** Makes `redact` hide a query (with its `?`) from now on. */
export function keepSecret(query: string): void {
  const isKnown = secrets.delete(query);
  secrets.add(query);
  if (isKnown) return;
  const [oldest] = secrets;
  if (secrets.size > MAX_SECRETS && oldest !== undefined) secrets.delete(oldest);
  longestFirst = [...secrets].flatMap(formsOf).sort((a, b) => b.length - a.length);
}

/** The query as given, and its form with the known parameters hidden if that leaves others visible. */
function formsOf(query: string): string[] {
  const shown = withoutParameters(query);
  const isAllHidden = shown
    .slice(1)
    .split("&")
    .every((parameter) => parameter.endsWith(`=${HIDDEN}`));
  return shown === query || isAllHidden ? [query] : [query, shown];
}

/** Matches every text that may contain a secret, for a quick check. */
const SUSPICIOUS = /@|=|%(?:25)*(?:3d|40)/i;

/**
 * Removes the credentials of URLs in a text: users in front of a host, and the values of parameters such as `sig`,
 * `token` and `X-Amz-Signature`.
 */
export function redact(given: string): string {
  let text = SUSPICIOUS.test(given) ? withoutParameters(given.replace(USER, `$1${HIDDEN}@`)) : given;
  for (const secret of longestFirst) text = text.replaceAll(secret, `?${HIDDEN}`);
  return text;
}

function withoutParameters(text: string): string {
  let shown = "";
  let end = 0;
  for (const {
    0: { length },
    1: name = "",
    index,
  } of text.matchAll(NAME)) {
    if (index + length < end || !SECRET_NAME.test(decoded(name))) continue;
    VALUE.lastIndex = index + length;
    VALUE.test(text);
    shown += `${text.slice(end, index + length)}${HIDDEN}`;
    end = VALUE.lastIndex;
  }
  return shown + text.slice(end);
}

/** Decodes percent-encoding, however often it was applied. */
function decoded(name: string): string {
  const once = name.replace(/%(?:25)*([2-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return once === name ? name : decoded(once);
}

/** True if a text contains a user or a secret parameter. */
export function holdsCredentials(text: string): boolean {
  return redact(text) !== text;
}
