// Line protocol ends a line at each line feed, and has no escape for one outside quotes.
const BREAKS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\f': '\\f' }

/** A measurement name: commas and blanks are escaped. */
export function measurementText(name: string): string {
  return escaped(name, /[, \n\r\t\f]/g)
}

/** The key or value of a tag, or the key of a field: commas, equal signs and blanks are escaped. */
export function keyText(text: string): string {
  return escaped(text, /[,= \n\r\t\f]/g)
}

/** The value of a text field, in quotes. A line feed within quotes is data. */
export function fieldText(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').toWellFormed()}"`
}

/**
 * A backslash at the end would escape the comma or blank that follows, and line protocol cannot escape a backslash
 * here. So trailing backslashes are removed, as Telegraf does.
 */
function escaped(text: string, special: RegExp): string {
  const kept = text.replace(/\\+$/, '').toWellFormed()
  return kept.replace(special, (character) => BREAKS[character] ?? `\\${character}`)
}
