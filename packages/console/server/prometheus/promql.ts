import { SondeError } from '@sonde/sdk'
import type { Matcher } from '@sonde/sdk/internal'

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

/** A text, quoted for PromQL. */
export function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed())
}

/**
 * A selector of the series of metrics that satisfy all matchers. A regular expression matches as in a query of ours:
 * anchored at both ends, and `.` matches any character. The flag for the latter is added only if needed: the server
 * looks up alternatives of plain texts in its label index, but not a group of them.
 *
 * @throws SondeError `QRY_FORM` if a label name is invalid on such a server.
 */
export function selectorOf(metrics: readonly string[], matchers: readonly Matcher[]): string {
  const [first = ''] = metrics
  const name =
    metrics.length === 1 ? `__name__=${quoted(first)}` : `__name__=~${quoted(metrics.map(literalOf).join('|'))}`
  const conditions = matchers.map(({ label, op, value }) => {
    const isExpression = op === '=~' || op === '!~'
    return `${labelName(label)}${op}${quoted(isExpression ? anyCharacter(value) : value)}`
  })
  return `{${[name, ...conditions].join(',')}}`
}

/** A span in the form of PromQL, at least 1 ms. */
export function promqlDuration(ms: number): string {
  return `${Math.max(1, Math.round(ms))}ms`
}

/**
 * The name of a label, checked.
 *
 * @throws SondeError `QRY_FORM` if the name is invalid, or reserved by servers.
 */
export function labelName(name: string): string {
  if (LABEL_NAME.test(name) && !name.startsWith('__')) return name
  throw new SondeError(
    'QRY_FORM',
    `${JSON.stringify(name.slice(0, 100))} is no label of a Prometheus; allowed: letters, digits and _, not __ first`,
  )
}

/** A regular expression that matches exactly this text. */
export function literalOf(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function anyCharacter(expression: string): string {
  const isNeeded = expression.replace(/\\./gs, '').includes('.')
  return isNeeded ? `(?s:${expression})` : expression
}
