/** Invisible characters that change the order of the characters around them. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const MARK = /(⟦|%E2%9F%A6)U(?:\+|%2B)([0-9A-F]{4})(?:⟧|%E2%9F%A7)/g

/**
 * Parses JSON of the server and replaces characters that could disguise a name by a mark such as `⟦U+202E⟧`. Every
 * answer passes through here, so a name looks the same everywhere.
 */
export function parseMarked<T>(text: string): T {
  return JSON.parse(text.replace(TURNING, (character) => `⟦U+${hexOf(character)}⟧`)) as T
}

/** Restores the original names in a body or in an encoded address. */
export function unmarked(text: string): string {
  return text.replace(MARK, (_mark, bracket: string, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return bracket === '⟦' ? character : encodeURIComponent(character)
  })
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
}
