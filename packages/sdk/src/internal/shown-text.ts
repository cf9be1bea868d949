/** Text on one line that a terminal takes for nothing but text. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this replaces control characters
  return escapeTurning(text.replace(/[\u0000-\u001f\u007f-\u009f]/g, escapeOf))
}

/** The same text with escapes in place of characters that turn the order of others, or break a line unseen. */
export function escapeTurning(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escapeOf)
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** A name from outside as one word of a command that a person may paste into a shell: in quotes unless it is plain. */
export function shellWord(name: string): string {
  return /^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`
}
