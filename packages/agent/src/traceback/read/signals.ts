import type { RecordType } from '@sonde/sdk'
import type { EventLane } from '@sonde/sdk/api'
import { labelOf, type Slot } from '@sonde/sdk/internal'
import { placedCounter } from '../../sources/doca-telemetry-diag/counters.ts'
import type { IndexSignal, KeptSeries, ReadIndex } from '../keep/kept-index.ts'
import { numberSlotOf } from '../keep/series-book.ts'
import { dataIdOf } from '../keep/slot-role.ts'

/** Clock fields of samples, which are not signals. */
const CLOCK_FIELD = /^device_|^raw_|_ns$|^stamp/

/** A signal of a series. */
export interface LaneSignal {
  readonly key: string
  /** Index of its series. */
  readonly series: number
  readonly slot: Slot
  readonly role: EventLane['role']
  readonly name: string
  readonly unit: string
}

/** Whether a signal of the rules is a field of a series. */
export function isSignalOf(
  { type, field, labels }: IndexSignal,
  typeName: string,
  slot: Slot,
  series: KeptSeries,
): boolean {
  if (type !== typeName || field !== slot.name) return false
  return Object.entries(labels).every(([label, value]) => labelOf(series.labels, label) === value)
}

/** The signals of a series of an event: number fields that people read. */
export function laneSignals({ parts, types, series }: ReadIndex, at: number): LaneSignal[] {
  const one = series[at]
  const type = one === undefined ? undefined : types[one.part]
  if (one === undefined || type === undefined) return []
  const isRing = parts[one.part]?.isRing === true
  return signalSlots(type, isRing).map((slot) => {
    return { key: `${at}.${slot.index}`, series: at, slot, ...signalWords(slot, one) }
  })
}

function signalSlots(type: RecordType, isRing: boolean): Slot[] {
  const number = numberSlotOf(type)
  return type.layout.slots.filter((slot) => {
    const { role, count, kind } = slot.field
    if (count !== 1 || kind === 'symbol' || kind === 'char') return false
    if (role === 'counter' || role === 'gauge') return true
    // In samples, values are signals; in reported records they are not metrics.
    return isRing && role === 'value' && slot !== number && !CLOCK_FIELD.test(slot.name)
  })
}

/**
 * The name of the field, with the labels that distinguish its series from others of the device. The device has a
 * separate name.
 */
function signalWords(slot: Slot, { labels, apart }: KeptSeries): Pick<LaneSignal, 'role' | 'name' | 'unit'> {
  const id = dataIdOf(slot)
  if (id !== undefined) return diagWords(id)
  const { name, field } = slot
  const others = apart.map((label) => [label, labelOf(labels, label)] as const)
  const more = others.map(([label, value]) => (value === '' ? '' : ` ${label}=${value}`)).join('')
  const { role } = field
  return { role: role === 'counter' || role === 'gauge' ? role : 'value', name: name + more, unit: field.unit ?? '' }
}

function diagWords(id: bigint): Pick<LaneSignal, 'role' | 'name' | 'unit'> {
  const { counter, labels } = placedCounter(id)
  // Unknown data IDs are counters, because nearly all are.
  if (counter === undefined) return { role: 'counter', name: `0x${id.toString(16).padStart(16, '0')}`, unit: '' }
  const more = Object.entries(labels)
    .map(([label, value]) => ` ${label}=${value}`)
    .join('')
  const slot = counter.type.layout.slots.find(({ name }) => name === counter.field)
  const unit = counter.isNs === true ? 'nanoseconds' : (slot?.field.unit ?? '')
  return { role: counter.extreme === undefined ? 'counter' : 'gauge', name: counter.name + more, unit }
}
