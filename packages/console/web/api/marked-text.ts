/** Invisible characters: those that change the order of the characters around them, and late control characters. */
const INVISIBLE = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
/** Other control characters, as JSON writes them; an escaped backslash is matched so that it hides none. */
const ESCAPED = /\\(?:\\|u(00[01][0-9a-f]))/gi
const MARK = /(⟦|%E2%9F%A6)U(?:\+|%2B)([0-9A-F]{4})(?:⟧|%E2%9F%A7)/g

/**
 * Parses JSON of the server and replaces characters that could disguise a name by a mark such as `⟦U+202E⟧`. Every
 * answer passes through here, so a name looks the same everywhere.
 */
export function parseMarked<T>(text: string): T {
  const shown = text
    .replace(INVISIBLE, (character) => `⟦U+${hexOf(character)}⟧`)
    .replace(ESCAPED, (whole, hex?: string) => (hex === undefined ? whole : `⟦U+${hex.toUpperCase()}⟧`))
  return JSON.parse(shown) as T
}

/** Restores the original names in a body or in an encoded address. */
export function unmarked(text: string): string {
  return text.replace(MARK, (_mark, bracket: string, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    if (bracket !== '⟦') return encodeURIComponent(character)
    return character < ' ' ? `\\u${hex.toLowerCase()}` : character
  })
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
}
