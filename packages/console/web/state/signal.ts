import type { FieldInfo, Matcher, MetricQuery, QueryFunction } from '../api/types.ts'

const FUNCTIONS: readonly QueryFunction[] = ['rate', 'increase', 'last', 'avg', 'min', 'max']
const GROUPING = /^(sum|avg|min|max)\(([\w,]*)\)$/
const MATCHER = /^(\w+)(=~|!~|!=|=)(.*)$/s

/**
 * Reads one signal of an address: `rate:netdev_rx_bytes_total:device=~eth.*;device!=eth9:sum(device)`.
 *
 * Function and metric are needed; conditions and grouping may be left out. In a condition's value `%`, `:` and `;` are written as
 * `%25`, `%3A` and `%3B`. Undefined where it cannot be read.
 */
export function parseSignal(text: string): MetricQuery | undefined {
  const [name, metric, ...rest] = text.split(':')
  const fn = FUNCTIONS.find((known) => known === name)
  if (!fn || !metric || !/^[\w.]+$/.test(metric) || rest.length > 2) return undefined
  const last = rest.at(-1)
  const grouping = last === undefined ? null : GROUPING.exec(last)
  const conditions = (grouping ? rest.slice(0, -1) : rest).join('')
  const matchers = conditions === '' ? [] : conditions.split(';').map(parseMatcher)
  if (matchers.includes(undefined) || (rest.length === 2 && !grouping)) return undefined
  return {
    metric,
    function: fn,
    ...(matchers.length > 0 ? { matchers: matchers as Matcher[] } : {}),
    ...(grouping
      ? {
          aggregate: grouping[1] as NonNullable<MetricQuery['aggregate']>,
          by: grouping[2]!.split(',').filter(Boolean),
        }
      : {}),
  }
}

function parseMatcher(text: string): Matcher | undefined {
  const match = MATCHER.exec(text)
  if (!match) return undefined
  try {
    return { label: match[1]!, op: match[2] as Matcher['op'], value: decodeURIComponent(match[3]!) }
  } catch {
    // A stray per cent sign: the whole signal is named as unreadable.
    return undefined
  }
}

/** Writes a signal as {@link parseSignal} reads it. */
export function formatSignal(query: MetricQuery): string {
  const conditions = (query.matchers ?? []).map(({ label, op, value }) => label + op + escaped(value)).join(';')
  const grouping = query.by === undefined ? '' : `:${query.aggregate ?? 'sum'}(${query.by.join()})`
  return `${query.function}:${query.metric}${conditions === '' ? '' : `:${conditions}`}${grouping}`
}

function escaped(value: string): string {
  return value.replace(/[%:;]/g, (character) => encodeURIComponent(character))
}

/** The function that a field is asked for first. */
export function firstFunction({ role }: Pick<FieldInfo, 'role'>): QueryFunction {
  return role === 'counter' ? 'rate' : 'last'
}
