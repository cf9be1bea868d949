/**
 * Invisible characters: those that change the order of the characters around them, those without a shape, and late
 * control characters. Joiners have a use in some scripts, and none beside a character of ASCII.
 */
const INVISIBLE =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]|(?<=[ -~])[\u200c\u200d]|[\u200c\u200d](?=[ -~])/g
/** Other control characters, as JSON writes them; an escaped backslash is matched so that it hides none. */
const ESCAPED = /\\(?:\\|u(00[01][0-9a-f])|([bf]))/gi
/** Control characters that JSON writes as a letter. Line breaks and tabs are seen. */
const LETTERS: Readonly<Record<string, string>> = { b: '0008', f: '000C' }
const MARK = /(⟦|%E2%9F%A6)U(?:\+|%2B)([0-9A-F]{4})(?:⟧|%E2%9F%A7)/g

/**
 * Parses JSON of the server and replaces characters that could disguise a name by a mark such as `⟦U+202E⟧`. Every
 * answer passes through here, so a name looks the same everywhere.
 */
export function parseMarked<T>(text: string): T {
  const shown = text.replace(INVISIBLE, markOf).replace(ESCAPED, (whole, hex = '', letter = '') => {
    const code = LETTERS[letter] ?? hex
    return code === '' ? whole : `⟦U+${code.toUpperCase()}⟧`
  })
  return JSON.parse(shown) as T
}

/** Replaces the same characters in a text that is no JSON, such as a name in the address of the page. */
export function markInvisible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this replaces control characters
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, markOf).replace(INVISIBLE, markOf)
}

/** Restores the original names in JSON, as escapes that disguise nothing, or in an encoded address. */
export function unmarked(text: string): string {
  return text.replace(MARK, (_mark, bracket: string, hex: string) =>
    bracket === '⟦' ? `\\u${hex.toLowerCase()}` : encodeURIComponent(String.fromCharCode(Number.parseInt(hex, 16))),
  )
}

function markOf(character: string): string {
  return `⟦U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟧`
}
