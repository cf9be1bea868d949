import type { ListedMetric, Matcher, MetricQuery, QueryFunction } from '@sonde/sdk/api'

const FUNCTIONS: readonly QueryFunction[] = ['rate', 'increase', 'last', 'avg', 'min', 'max']
const FORM = /^(\w*):([\w.]+)(?::(.*))?$/s
const GROUPING = /(?:^|:)(sum|avg|min|max|count)\(([\w,]*)\)$/
const MATCHER = /^(\w+)(=~|!~|!=|=)(.*)$/s
/** Characters that would end a value early, and the escape character. */
const ESCAPED = /[%;]|:(?=(?:sum|avg|min|max|count)\()/g
const ESCAPES = /%(?:25|3A|3B)/gi

/**
 * Reads one signal of an address: `rate:netdev_rx_bytes_total:device=~eth.*;device!=eth9:sum(device)`.
 *
 * Function and metric are needed; conditions and grouping may be left out. A condition's value may be any text: in it
 * `%` and `;` are written as `%25` and `%3B`, and a colon as `%3A` where what follows would read as a grouping.
 * Undefined if it cannot be read.
 */
export function parseSignal(text: string): MetricQuery | undefined {
  const read = readSignal(text)
  return typeof read === 'string' ? undefined : read
}

/** Why a signal cannot be read, in a sentence; empty if it can. */
export function signalFault(text: string): string {
  const read = readSignal(text)
  return typeof read === 'string' ? read : ''
}

/** The query, or the error. */
function readSignal(text: string): MetricQuery | string {
  const [, name, metric, rest = ''] = FORM.exec(text) ?? []
  if (!metric) return 'A signal is written as function:metric, as in rate:netdev_rx_bytes_total.'
  const fn = FUNCTIONS.find((known) => known === name)
  if (!fn) return `The function of a signal is one of ${FUNCTIONS.join(', ')}.`
  const grouping = GROUPING.exec(rest)
  const conditions = grouping ? rest.slice(0, grouping.index) : rest
  const matchers: Matcher[] = []
  for (const condition of conditions === '' ? [] : conditions.split(';')) {
    const [, label, op, value = ''] = MATCHER.exec(condition) ?? []
    if (!label)
      return 'A condition of a signal is written as label=value, label!=value, label=~pattern or label!~pattern.'
    matchers.push({ label, op: op as Matcher['op'], value: value.replace(ESCAPES, decodeURIComponent) })
  }
  return {
    metric,
    function: fn,
    ...(matchers.length > 0 ? { matchers } : {}),
    ...(grouping
      ? {
          aggregate: grouping[1] as NonNullable<MetricQuery['aggregate']>,
          by: grouping[2]!.split(',').filter(Boolean),
        }
      : {}),
  }
}

/** Writes a signal as {@link parseSignal} reads it. */
export function formatSignal(query: MetricQuery): string {
  const conditions = (query.matchers ?? []).map(({ label, op, value }) => label + op + escaped(value)).join(';')
  const grouping = query.by === undefined ? '' : `:${query.aggregate ?? 'sum'}(${query.by.join()})`
  return `${query.function}:${query.metric}${conditions === '' ? '' : `:${conditions}`}${grouping}`
}

function escaped(value: string): string {
  return value.replace(ESCAPED, (character) => encodeURIComponent(character))
}

/** Whether a field counts, so that it has a rate: a counter, or a histogram. */
export function isCounted({ role }: Pick<ListedMetric, 'role'>): boolean {
  return role === 'counter' || role === 'bucket'
}

/** The default function of a field. */
export function firstFunction({ role }: Pick<ListedMetric, 'role'>): QueryFunction {
  return isCounted({ role }) ? 'rate' : 'last'
}
