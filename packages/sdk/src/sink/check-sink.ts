import { shown } from '../errors.ts'

const COUNTS = ['in', 'out', 'duplicates', 'errors', 'seconds'] as const
const METHODS = ['accept', 'flush', 'close'] as const
const OPTIONAL_METHODS = ['ready', 'causeOf', 'lastPage', 'skip', 'takeLost', 'takeHidden'] as const

/** Why a value is no sink, as the end of a sentence; undefined if it is a sink. */
export function faultOfSink(given: unknown): string | undefined {
  if (given === null || typeof given !== 'object') return `${shown(given)}; allowed: a sink`
  const sink = given as Readonly<Record<string, unknown>>
  if (typeof sink.name !== 'string' || sink.name === '')
    return `no sink: its name is ${shown(sink.name)}; give it a text`
  for (const method of METHODS) {
    if (typeof sink[method] !== 'function') return `no sink: it has no ${method}(), which every sink has`
  }
  for (const method of OPTIONAL_METHODS) {
    if (sink[method] !== undefined && typeof sink[method] !== 'function') {
      return `no sink: its ${method} is ${shown(sink[method])}; make it a function, or leave it out`
    }
  }
  return faultOfStats(sink.stats)
}

function faultOfStats(given: unknown): string | undefined {
  const stats = (given ?? {}) as Readonly<Record<string, unknown>>
  if (stats.dropped instanceof Map && COUNTS.every((count) => typeof stats[count] === 'number')) return undefined
  return `no sink: its stats are ${shown(given)} without the counts of a sink; make them with sinkStats()`
}
