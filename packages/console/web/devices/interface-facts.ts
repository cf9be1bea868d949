import { isSick } from '../components/sickness.ts'
import type { StateTone } from '../components/state-mark.tsx'
import { formatQuantity } from '../format/number.ts'
import { PER_SECOND } from '../format/quantity.ts'
import { formatAge } from '../format/time.ts'
import { be, type Tense } from '../format/words.ts'
import { lastValue, meanReading, type ReadSpan } from './device-reading.ts'
import { type InterfaceColumns, isQuiet, largestOfLast } from './interface-data.ts'

/** Samples over which something counts as happening now. */
const NOW_COUNT = 10
/** Least rates of errors and drops per second for a headline. Some drivers also count unwanted frames as drops. */
const ERRORS_MIN = 0.1
const DROPS_MIN = 1

/**
 * The state of an interface for headlines, tiles and tables, now or in a window. Rates are per second; NaN is absent.
 */
export interface InterfaceFact {
  readonly device: string
  readonly isUp: boolean | undefined
  /** Whether the interface is gone. Its values are then history. */
  readonly isGone: boolean
  /** Whether it has no recent sample, or none in a past window. */
  readonly isSilent: boolean
  /** How long it has been down, if the change was seen; for a past window, how long it was down. Unit: milliseconds. */
  readonly downForMs?: number | undefined
  /** Whether the facts describe a past window. */
  readonly isOver: boolean
  readonly errors: number
  readonly drops: number
  /** How long errors or drops have risen without a pause. Unit: milliseconds. */
  readonly movingForMs: number
}

/** A finding worth a sentence. The smallest rank is the worst. */
export interface InterfaceFinding {
  readonly rank: number
  readonly tone: 'warning' | 'critical'
  readonly sentence: string
  readonly facts: string
}

/** The interfaces that the server reads now; undefined before the first answer or for a past window. */
export type LiveDevices = ReadonlySet<string> | undefined

/** Judges the newest samples of an interface, or the worst moment of a past window. */
export function interfaceFact(row: InterfaceColumns, span: ReadSpan, live?: LiveDevices): InterfaceFact {
  const up = lastValue(row.columns.up, span)
  const count = span.isNow ? NOW_COUNT : Number.POSITIVE_INFINITY
  const isGone = live !== undefined && !live.has(row.device)
  const isSilent = Object.values(row.columns).every((values) => Number.isNaN(lastValue(values, span)))
  return {
    device: row.device,
    isUp: Number.isNaN(up) ? undefined : up > 0,
    isGone,
    isSilent,
    // Interfaces of containers appear and disappear. Only a present interface that is down is trouble.
    downForMs: isGone || isSilent ? undefined : downFor(row.columns.up, span),
    isOver: !span.isNow,
    errors: largestOfLast(row.errors, count),
    drops: largestOfLast(row.drops, count),
    movingForMs: Math.max(movingFor(row.errors, span), movingFor(row.drops, span)),
  }
}

/**
 * How long an interface has been down after it was up in the window, or was down in a past window; undefined if it is
 * up or never was.
 */
export function downFor(up: Float64Array | undefined, { stepMs, isNow }: ReadSpan): number | undefined {
  if (!up) return undefined
  if (!isNow) {
    const count = up.filter((value) => value === 0).length
    return count > 0 && up.some((value) => value > 0) ? count * stepMs : undefined
  }
  let down = 0
  for (let i = up.length - 1; i >= 0; i--) {
    if (Number.isNaN(up[i]!)) {
      if (down > 0) down++
    } else if (up[i]! > 0) return down > 0 ? down * stepMs : undefined
    else down++
  }
  return undefined
}

/** How long a counter has been rising, with pauses of at most ten samples; for a past window, how long it rose. */
export function movingFor(rates: Float64Array, { stepMs, isNow }: ReadSpan): number {
  if (!isNow) return rates.filter((rate) => rate > 0).length * stepMs
  let first = rates.length
  let pause = 0
  for (let i = rates.length - 1; i >= 0 && pause <= NOW_COUNT; i--) {
    if (rates[i]! > 0) {
      first = i
      pause = 0
    } else pause++
  }
  return (rates.length - first) * stepMs
}

/** State of an interface: icon, word, and trouble. */
export interface InterfaceState {
  readonly tone: StateTone
  readonly word: string
  /** Errors or drops a second, in words. */
  readonly trouble?: string
}

/** The state of an interface that the server no longer reads. */
export const GONE_STATE: InterfaceState = { tone: 'absent', word: 'Gone' }

/** The state of a name that the server does not read and that has no history. */
export const NOT_READ_STATE: InterfaceState = { tone: 'absent', word: 'Not read' }

/** The state of an interface. Undefined facts mean no samples, which does not prove that it is gone. */
export function interfaceState(fact: InterfaceFact | undefined): InterfaceState {
  if (fact?.isGone) return GONE_STATE
  if (!fact || fact.isSilent) return { tone: 'absent', word: 'No values' }
  if (fact.downForMs !== undefined)
    return { tone: 'critical', word: fact.isOver ? `Down for ${formatAge(fact.downForMs)}` : 'Down' }
  if (fact.isUp === false) return { tone: 'absent', word: 'Down' }
  if (fact.errors >= ERRORS_MIN)
    return { tone: 'critical', word: 'Counts errors', trouble: `${formatQuantity(PER_SECOND, fact.errors)} errors` }
  if (fact.drops >= DROPS_MIN)
    return { tone: 'warning', word: 'Drops packets', trouble: `${formatQuantity(PER_SECOND, fact.drops)} drops` }
  return fact.isUp === undefined ? { tone: 'absent', word: 'State unknown' } : { tone: 'ok', word: 'Up' }
}

/** What an interface carries, for lists that put the busiest first. */
export interface InterfaceLoad {
  /** Traffic of both directions. Unit: bytes per second. */
  readonly load: number
  /** Whether nothing is wrong with it, and it carried nothing in the window. */
  readonly isIdle: boolean
}

/** The load of an interface in this state. */
export function interfaceLoad(
  { columns: { sent, received } }: Pick<InterfaceColumns, 'columns'>,
  state: InterfaceState,
  span: ReadSpan,
): InterfaceLoad {
  const isWell = !isSick(state.tone) && state !== GONE_STATE
  return {
    load: (meanReading(sent, span).value || 0) + (meanReading(received, span).value || 0),
    isIdle: isWell && isQuiet([sent, received]),
  }
}

/** The findings about an interface. It is compared with `others`. */
export function interfaceFindings(
  fact: InterfaceFact,
  others: readonly InterfaceFact[],
  { context, tense }: { readonly context: string; readonly tense: Tense },
): InterfaceFinding[] {
  const { device } = fact
  const isPast = tense === 'past'
  const found: InterfaceFinding[] = []
  if (fact.downForMs !== undefined) {
    found.push({
      rank: 0,
      tone: 'critical',
      sentence: `${device} ${be(1, tense)} down, for ${formatAge(fact.downForMs)}`,
      facts: `It ${fact.isOver ? 'was up otherwise' : isPast ? 'had been up before' : 'was up before'}. ${context}`,
    })
  }
  const lasting = fact.movingForMs >= 2_000 ? `, for ${formatAge(fact.movingForMs)}` : ''
  if (fact.errors >= ERRORS_MIN) {
    const isAlone = others.length > 0 && others.every(({ errors }) => !(errors >= ERRORS_MIN))
    found.push({
      rank: 1,
      tone: 'critical',
      sentence: `${device} ${isPast ? 'counted' : 'counts'} errors${lasting}`,
      facts: `${formatQuantity(PER_SECOND, fact.errors)}${isAlone ? ', the other interfaces 0' : ''}.`,
    })
  } else if (fact.drops >= DROPS_MIN) {
    const isAlone = others.length > 0 && others.every(({ drops }) => !(drops >= DROPS_MIN))
    found.push({
      rank: 2,
      tone: 'warning',
      sentence: `${device} ${isPast ? 'dropped' : 'drops'} packets${lasting}`,
      facts: `${formatQuantity(PER_SECOND, fact.drops)}${isAlone ? ', the other interfaces 0' : ''}.`,
    })
  }
  return found
}
