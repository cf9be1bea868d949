import { SondeError } from '@sonde/sdk'
import type { Matcher } from '@sonde/sdk/internal'

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

/** A text as PromQL quotes it. */
export function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed())
}

/**
 * A selector of the series of metrics whose matchers all hold. A regular expression matches as in the query form:
 * anchored at both ends, and `.` is any character. The latter is said only if it matters: alternatives of plain
 * texts are looked up in the index of labels, a group of them is not.
 *
 * @throws SondeError `QRY_FORM` if a label has a name that no label of such a server has.
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

/** A span as PromQL writes it, at least 1 ms. */
export function spanOf(ms: number): string {
  return `${Math.max(1, Math.round(ms))}ms`
}

/**
 * The name of a label, checked.
 *
 * @throws SondeError `QRY_FORM` if it is none, or one that servers keep for themselves.
 */
export function labelName(name: string): string {
  if (LABEL_NAME.test(name) && !name.startsWith('__')) return name
  throw new SondeError(
    'QRY_FORM',
    `${JSON.stringify(name.slice(0, 100))} is no label of a Prometheus; allowed: letters, digits and _, not __ first`,
  )
}

/** A text as an expression that matches it alone. */
export function literalOf(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function anyCharacter(expression: string): string {
  const isNeeded = expression.replace(/\\./gs, '').includes('.')
  return isNeeded ? `(?s:${expression})` : expression
}
