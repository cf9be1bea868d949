import { type Aggregate, type Matcher, type QueryFunction, type SeriesQuery, SondeError } from '@sonde/sdk'

/** Label by which series of several questions are told apart in one answer. */
export const QUESTION_LABEL = 'sonde_question'

/** Functions of a range that need no more than its samples. */
const OVER_TIME: Readonly<Partial<Record<QueryFunction, string>>> = {
  avg: 'avg_over_time',
  min: 'min_over_time',
  max: 'max_over_time',
}
/** A rate needs two samples, four scrapes of 15 s where one may be missed. Unit: seconds. */
const RATE_WINDOW_MIN_S = 60

/**
 * All questions of a request as one expression, so that one round trip answers them: the series of each bear its place
 * in {@link QUESTION_LABEL}.
 *
 * @param stepMs Grid of the request.
 * @throws SondeError `QRY_FORM` where a question has no PromQL.
 */
export function compileAll(queries: readonly SeriesQuery[], stepMs: number): string {
  const tagged = queries.map((query, at) => {
    return `label_replace(${compile(query, stepMs)},${quoted(QUESTION_LABEL)},${quoted(String(at))},"","")`
  })
  return tagged.join(' or ')
}

/** One question as PromQL. */
export function compile(query: SeriesQuery, stepMs: number): string {
  const { by, aggregate, within } = query
  const each = expressionOf(query, stepMs)
  if (by === undefined) return each
  if (within === undefined) return joined(aggregate, by, each)
  return joined(aggregate, by, joined(within.aggregate, [...new Set([...by, ...within.by])], each))
}

function joined(aggregate: Aggregate, by: readonly string[], expression: string): string {
  return `${aggregate} by (${by.map(labelName).join(',')}) (${expression})`
}

function expressionOf({ metric, function: asked, matchers }: SeriesQuery, stepMs: number): string {
  const selector = `{${[`__name__=${quoted(metric)}`, ...matchers.map(compileMatcher)].join(',')}}`
  if (asked === 'last') return selector
  const overTime = OVER_TIME[asked]
  if (overTime !== undefined) return `${overTime}(${selector}[${durationOf(stepMs)}])`
  if (asked === 'quantile')
    throw new SondeError(
      'QRY_FORM',
      `quantile of ${metric} has no PromQL here; allowed: last, avg, min, max, rate, increase`,
    )
  const rate = `rate(${selector}[${durationOf(Math.max(stepMs, RATE_WINDOW_MIN_S * 1000))}])`
  return asked === 'rate' ? rate : `${rate} * ${stepMs / 1000}`
}

function compileMatcher({ label, op, value }: Matcher): string {
  return `${labelName(label)}${op}${quoted(value)}`
}

/** Labels come from outside: nothing but a name may stand where one does. */
function labelName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new SondeError('QRY_FORM', `label ${JSON.stringify(name.slice(0, 100))}; allowed: letters, digits and "_"`)
}

/** A string of PromQL: escapes are those of Go, of which JSON's are a part, but for what is no UTF-8. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed())
}

function durationOf(milliseconds: number): string {
  return `${Math.max(1, Math.round(milliseconds))}ms`
}
