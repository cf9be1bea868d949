/** Whether a sentence speaks of now, or of a time that is over. */
export type Tense = 'present' | 'past'

/** The verb of so many things: `is`, `are`, `was`, `were`. */
export function be(count: number, tense: Tense): string {
  if (tense === 'past') return count === 1 ? 'was' : 'were'
  return count === 1 ? 'is' : 'are'
}

/**
 * Words of a source as a sentence; nothing where there are none. What begins with a name of the kernel, such as a path,
 * is left as it is.
 */
export function asSentence(words: string): string {
  if (words === '') return ''
  const isWord = /^[a-z]+ /.test(words)
  const begun = isWord ? words.charAt(0).toUpperCase() + words.slice(1) : words
  return /[.?!]$/.test(begun) ? begun : `${begun}.`
}
