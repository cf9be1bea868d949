import type { Hint } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import { niceTop } from '../chart/scale.ts'
import type { StateTone } from '../components/state-mark.tsx'
import type { TileFact, TileWords } from '../components/tile.tsx'
import { ABSENT, type DisplayUnit, formatIn, formatQuantity, pickUnit } from '../format/number.ts'
import { BITS_PER_SECOND, CELSIUS, PERCENT, PERCENT_WHOLE, WATTS } from '../format/quantity.ts'
import { formatAge, formatClock, type TimeZoneChoice } from '../format/time.ts'
import { deviceTitle } from './device.ts'
import { type DeviceColumns, isSilent } from './device-columns.ts'
import {
  type DeviceReading,
  lastValue,
  meanReading,
  newestReading,
  type ReadSpan,
  rangeWords,
} from './device-reading.ts'
import { type Fired, firedTop } from './fired.ts'
import { hintState, tileWordsOf } from './hint-words.ts'
import { largestOfLast } from './interface-data.ts'
import { downFor } from './interface-facts.ts'

/** What a tile is made from, beside its device and columns. */
export interface TileContext extends ReadSpan {
  /** The worst hint of which the device is at fault. */
  readonly hint?: Hint | undefined
  /** False if it is not known what rules saw: then it is not said to be in range. */
  readonly isJudged: boolean
  /** The signal that fired. */
  readonly fired?: Fired | undefined
  readonly zone: TimeZoneChoice
  /** Position at which sparklines begin. Default: the first. */
  readonly sparkFrom?: number
  /** Top of the sparklines of sent bytes, the same for all. Unit: bytes a second. */
  readonly sentTop: number
}

/** The words of a tile before its state is looked at. */
type Plain = Pick<TileWords, 'value' | 'unit' | 'what' | 'facts'> & {
  readonly values?: Float64Array | undefined
  readonly top: number
  /** A state that the device's own numbers tell. */
  readonly state?: { readonly tone: StateTone; readonly word: string }
}

/** The tile of a GPU: SM active, power and temperature. Utilisation never stands alone. */
export function gpuTile(device: DeviceInfo, columns: DeviceColumns, context: TileContext): TileWords {
  const watts = meanReading(columns.power, context)
  const power = fact(formatQuantity(WATTS, watts.value), 'power drawn')
  const heat = heatFact(columns, context)
  if (columns.sm) {
    const percent = pickUnit(PERCENT, 1)
    const sm = meanReading(columns.sm, context)
    return finish(device, columns, context, {
      value: formatIn(percent, sm.value),
      unit: '%',
      what: 'SM',
      facts: [rangeFact(pickUnit(WHOLE, 1), sm) ?? power, heat],
      values: columns.sm,
      top: 1,
    })
  }
  const unit = pickUnit(WATTS, 1)
  const running = formatQuantity(PERCENT_WHOLE, meanReading(columns.utilisation, context).value)
  return finish(device, columns, context, {
    value: formatIn(unit, watts.value),
    unit: 'W',
    facts: [rangeFact(unit, watts) ?? fact(`${running} busy`, 'utilisation: a kernel was running'), heat],
    values: columns.power,
    top: device.limits.power_watts ?? niceTop(largestOfLast(columns.power ?? new Float64Array(0), 300), 1),
  })
}

/** The heat of now, or the greatest of the window. */
function heatFact(columns: DeviceColumns, span: ReadSpan): TileFact {
  const { value, high } = newestReading(columns.temperature, span)
  if (Number.isNaN(high)) return fact(formatQuantity(CELSIUS, value), 'temperature')
  return fact(`≤ ${formatQuantity(CELSIUS, high)}`, 'highest temperature in the window')
}

/** Least and most of a window; undefined if a number is of now. */
function rangeFact(unit: DisplayUnit, reading: DeviceReading): TileFact | undefined {
  const words = rangeWords(unit, reading)
  return words === '' ? undefined : fact(words, 'least and most in the window')
}

/** The tile of a NIC: what it sends, what it receives, and whether it counts errors. */
export function nicTile(device: DeviceInfo, columns: DeviceColumns, context: TileContext): TileWords {
  const values = columns.sent ?? columns.interfaceSent
  const sent = meanReading(values, context)
  const received = meanReading(columns.received ?? columns.interfaceReceived, context).value
  const unit = pickUnit(BITS_PER_SECOND, Math.max(sent.value || 0, received || 0))
  // Of a window its worst moment counts: a mean would hide it.
  const errors = [columns.sequenceErrors, columns.symbolErrors, columns.checksumErrors].map((values) => {
    const reading = meanReading(values, context)
    return context.isNow ? reading.value : reading.high
  })
  const known = errors.filter((rate) => !Number.isNaN(rate))
  const count = known.reduce((sum, rate) => sum + rate, 0)
  const errorFact =
    known.length === 0
      ? fact(ABSENT, 'no source counts errors')
      : fact(count > 0 ? `${formatIn(pickUnit(COUNTED, count), count)}/s errors` : 'no errors', 'errors')
  const errorsFact = context.isNow ? errorFact : { ...errorFact, text: errorFact.text.replace(/^(?=\d)/, '≤ ') }
  const state = linkState(columns, context)
  return finish(device, columns, context, {
    value: formatIn(unit, sent.value),
    unit: unit.label,
    what: 'sent',
    facts: [rangeFact(unit, sent) ?? fact(`${formatIn(unit, received)} in`, `received, ${unit.label}`), errorsFact],
    values,
    top: context.sentTop,
    ...(state ? { state } : {}),
  })
}

/** Extremes have little room. */
const WHOLE = { ...PERCENT, resolution: 1, decimals: 0 } as const
const COUNTED = { base: '', factor: 1, prefixes: 'si', resolution: 0.01 } as const

function fact(text: string, title: string): TileFact {
  return { text, title }
}

/** A port that is not active says so; one that was active in the window fell. */
function linkState({ state }: DeviceColumns, span: ReadSpan): Plain['state'] | undefined {
  const now = lastValue(state, span)
  if (!state || Number.isNaN(now)) return undefined
  const up = state.map((value) => (Number.isNaN(value) ? value : Number(value >= ACTIVE)))
  const fell = downFor(up, span)
  if (!span.isNow && fell !== undefined) return { tone: 'critical', word: `Down for ${formatAge(fell)}` }
  if (now >= ACTIVE) return undefined
  return { tone: fell === undefined ? 'absent' : 'critical', word: now === 1 ? 'Down' : 'Not active' }
}

const IN_RANGE = { tone: 'ok', word: 'In range' } as const
const NOT_JUDGED = { tone: 'absent', word: 'Not judged: findings of rules are not known' } as const

/** Logical states of a port from this one on carry traffic. */
const ACTIVE = 4

function finish(device: DeviceInfo, columns: DeviceColumns, context: TileContext, plain: Plain): TileWords {
  const name = deviceTitle(device)
  if (device.state === 'gone') {
    const word = device.goneMs === undefined ? 'Gone' : `Gone ${formatClock(device.goneMs, context.zone)}`
    const tone = context.hint ? hintState(context.hint).tone : 'warning'
    return { name, tone, word, value: ABSENT, unit: '', facts: [{ text: word, isTrouble: true }] }
  }
  const spark = (values: Float64Array | undefined, top: number, isLit: boolean): Pick<TileWords, 'spark'> =>
    values ? { spark: { values, top, isLit, from: context.sparkFrom ?? 0 } } : {}
  const { hint, fired } = context
  const what = plain.what && plain.value !== ABSENT ? { what: plain.what } : {}
  if (hint) {
    const words = tileWordsOf(hint, name)
    return {
      name,
      tone: hintState(hint).tone,
      word: words,
      value: plain.value,
      unit: plain.unit,
      ...what,
      // The word takes the place of the fact that tells least.
      facts: [{ text: words, isTrouble: true, title: hint.sentence }, ...plain.facts.slice(0, 1)],
      ...(fired ? spark(fired.values, firedTop(fired, device), true) : spark(plain.values, plain.top, false)),
    }
  }
  const state = isSilent(columns, context)
    ? ({ tone: 'absent', word: 'No sample' } as const)
    : (plain.state ?? (context.isJudged ? IN_RANGE : NOT_JUDGED))
  const facts =
    state === IN_RANGE || state === NOT_JUDGED
      ? plain.facts
      : [{ text: state.word, isTrouble: state.tone !== 'absent' }]
  return {
    name,
    ...state,
    value: plain.value,
    unit: plain.value === ABSENT ? '' : plain.unit,
    ...what,
    facts,
    ...spark(plain.values, plain.top, false),
  }
}
