import { type Labels, labelOf, type RecordType, type Slot } from '@sonde/sdk'
import type { EventLane, TracebackEvent } from '@sonde/sdk/internal'
import { placeOf } from '../../sources/doca-telemetry-diag/counters.ts'
import type { KeptSeries, ReadIndex } from '../keep/kept-index.ts'
import { numberSlotOf } from '../keep/series-book.ts'

/** Lanes of one event that are told. */
const LANES_MAX = 1024
/** Fields of samples that are no signals: their clocks. */
const CLOCK_FIELD = /^device_|^raw_|_ns$|^stamp/
/** A field of a diagnostic counter, by its data ID. */
const DATA_ID = /^id_([0-9a-f]{16})$/

/** A signal of a series. */
export interface Signal {
  readonly key: string
  /** Index of its series. */
  readonly series: number
  readonly slot: Slot
  readonly role: EventLane['role']
  readonly name: string
  readonly unit: string
}

/** The lanes of an event, in their order, and how many have no room. */
export function lanesOf(
  event: Pick<TracebackEvent, 'device'>,
  index: ReadIndex,
): { readonly lanes: readonly EventLane[]; readonly leftOut: number } {
  const lanes = index.series.flatMap((series, at) =>
    signalsOf(index, at).map((signal) => laneOf(index, series, signal)),
  )
  const rank = ({ isOfRule, device, key }: EventLane) => {
    if (isOfRule) return 0
    const series = index.series[Number(key.split('.')[0])]
    const isReported = index.parts[series?.part ?? 0]?.isRing !== true
    return 1 + (isReported ? 2 : 0) + (device === event.device ? 0 : 1)
  }
  const ordered = lanes.map((lane) => ({ lane, rank: rank(lane) })).sort((a, b) => a.rank - b.rank)
  return {
    lanes: ordered.slice(0, LANES_MAX).map(({ lane }) => lane),
    leftOut: Math.max(0, lanes.length - LANES_MAX),
  }

  function laneOf(of: ReadIndex, series: KeptSeries, { key, slot, role, name, unit }: Signal): EventLane {
    const { source = '' } = of.parts[series.part] ?? {}
    const { device, kind, resolutionMs, errorMs, samples, gaps, labels } = series
    const type = of.types[series.part]?.name ?? ''
    const { signal } = of
    const isOfRule =
      signal?.type === type &&
      signal.field === slot.name &&
      device === event.device &&
      Object.entries(signal.labels).every(([label, value]) => labelOf(labels, label) === value)
    return { ...{ key, type, source, device, kind, name, unit, role, resolutionMs, errorMs, samples, gaps }, isOfRule }
  }
}

/** The signals of a series of an event: fields that are numbers, and that people look at. */
export function signalsOf({ parts, types, series }: ReadIndex, at: number): Signal[] {
  const one = series[at]
  const type = one === undefined ? undefined : types[one.part]
  if (one === undefined || type === undefined) return []
  const isRing = parts[one.part]?.isRing === true
  return slotsOf(type, isRing).map((slot) => {
    return { key: `${at}.${slot.index}`, series: at, slot, ...wordsOf(slot, one.labels) }
  })
}

function slotsOf(type: RecordType, isRing: boolean): Slot[] {
  const number = numberSlotOf(type)
  return type.layout.slots.filter((slot) => {
    const { role, count, kind } = slot.field
    if (count !== 1 || kind === 'symbol' || kind === 'char') return false
    if (role === 'counter' || role === 'gauge') return true
    // What is sampled is a signal; what is reported as a value is no metric.
    return isRing && role === 'value' && slot !== number && !CLOCK_FIELD.test(slot.name)
  })
}

function wordsOf({ name, field }: Slot, labels: Labels): Pick<Signal, 'role' | 'name' | 'unit'> {
  const [, id] = DATA_ID.exec(name) ?? []
  if (id !== undefined) return diagWords(BigInt(`0x${id}`))
  const others = Object.entries(labels).filter(([label, value]) => label !== 'device' && value !== '')
  const more = others.map(([label, value]) => ` ${label}=${value}`).join('')
  const { role } = field
  return { role: role === 'counter' || role === 'gauge' ? role : 'value', name: name + more, unit: field.unit ?? '' }
}

function diagWords(id: bigint): Pick<Signal, 'role' | 'name' | 'unit'> {
  const { counter, labels } = placeOf(id)
  // What the table does not have is a counter, as nearly all are.
  if (counter === undefined) return { role: 'counter', name: `0x${id.toString(16).padStart(16, '0')}`, unit: '' }
  const more = Object.entries(labels)
    .map(([label, value]) => ` ${label}=${value}`)
    .join('')
  const slot = counter.type.layout.slots.find(({ name }) => name === counter.field)
  const unit = counter.isNs === true ? 'nanoseconds' : (slot?.field.unit ?? '')
  return { role: counter.extreme === undefined ? 'counter' : 'gauge', name: counter.name + more, unit }
}
