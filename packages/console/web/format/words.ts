/** Words of a source as a sentence. What begins with a name of the kernel, such as a path, is left as it is. */
export function asSentence(words: string): string {
  const isWord = /^[a-z]+ /.test(words)
  const begun = isWord ? words.charAt(0).toUpperCase() + words.slice(1) : words
  return /[.?!]$/.test(begun) ? begun : `${begun}.`
}
