/**
 * Makes a test of names from glob patterns: `*` is any text, `?` one character, and a pattern with `!` excludes names.
 * A name passes if it matches no `!` pattern and, unless all patterns have `!`, matches another pattern. Pure.
 */
export function nameFilter(patterns: readonly string[]): (name: string) => boolean {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map(globExpression)
  const unwanted = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => globExpression(pattern.slice(1)))
  return (name) =>
    (wanted.length === 0 || wanted.some((pattern) => pattern.test(name))) &&
    !unwanted.some((pattern) => pattern.test(name))
}

function globExpression(pattern: string): RegExp {
  const source = pattern.replace(/\*+|\?|[^*?]+/g, (part) => {
    if (part.startsWith('*')) return '.*'
    return part === '?' ? '.' : part.replace(/[\\^$.+()[\]{}|]/g, '\\$&')
  })
  return new RegExp(`^${source}$`, 'su')
}
