import { constantLabelText } from '../../schema/constant-labels.ts'
import { sumSlotOf } from '../../schema/histogram.ts'
import type { Layout, Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { joinLabels } from './label-text.ts'

/** How the 64 bits of a value are to be read. */
export type NumberClass = 'unsigned' | 'signed' | 'float'

/** One line that every row of a field gives. */
export interface Lane {
  /** Name of the sample: the metric's, with `_bucket`, `_count` or `_sum` on the lines of a histogram. */
  readonly sample: string
  /** Labels of the line itself: the constant labels of the field, `le="1.0"` or `index="3"`; may be empty. */
  readonly label: string
  readonly numbers: NumberClass
}

/**
 * Loads the values of a record, one per lane, as low and high words. Returns how many lanes there are; 0 where the
 * field is absent.
 */
export type LoadLanes = (data: DataView, offset: number, low: Uint32Array, high: Uint32Array) => number

/** The lines of a field and what fills them. */
export interface Lanes {
  readonly lanes: readonly Lane[]
  readonly load: LoadLanes
}

/**
 * The lines of a metric field. Several slots are fields that share the metric: the first present one is shown; all must
 * have the same number class and count.
 */
export function lanesOf(type: RecordType, metric: string, slots: readonly Slot[]): Lanes {
  const first = slots[0]
  if (first?.field.role === 'bucket') return histogramLanes(type, metric, first)
  const numbers = numberClass(first)
  const constant = first === undefined ? '' : constantLabelText(first.field)
  const count = first?.field.count ?? 0
  const lanes = Array.from({ length: count }, (_, i) => ({
    sample: metric,
    label: joinLabels(constant, count > 1 ? `index="${i}"` : ''),
    numbers,
  }))
  const loads = slots.map((slot) => valuesLoader(type.layout, slot))
  const [load] = loads
  if (load !== undefined && loads.length === 1) return { lanes, load }
  return {
    lanes,
    load: (data, offset, low, high) => {
      for (const load of loads) if (load(data, offset, low, high) > 0) return count
      return 0
    },
  }
}

/** How the values of a slot are read. */
export function numberClass(slot: Slot | undefined): NumberClass {
  const kind = slot?.field.kind
  if (kind === 'f32' || kind === 'f64') return 'float'
  return kind === 'i8' || kind === 'i16' || kind === 'i32' || kind === 'i64' ? 'signed' : 'unsigned'
}

/**
 * Cumulative buckets, then `_count` and `_sum`. OpenMetrics allows `_count` only together with `_sum`, so a histogram
 * without a sum has buckets alone, in both formats.
 */
function histogramLanes(type: RecordType, metric: string, slot: Slot): Lanes {
  const constant = constantLabelText(slot.field)
  const edges = [...(slot.field.edges ?? []).map(edgeText), '+Inf']
  const lanes: Lane[] = edges.map((edge) => ({
    sample: `${metric}_bucket`,
    label: joinLabels(constant, `le="${edge}"`),
    numbers: 'unsigned',
  }))
  const sum = sumSlotOf(type, slot)
  if (sum !== undefined) {
    lanes.push({ sample: `${metric}_count`, label: constant, numbers: 'unsigned' })
    lanes.push({ sample: `${metric}_sum`, label: constant, numbers: numberClass(sum) })
  }
  const bins = edges.length
  const loadBins = valuesLoader(type.layout, slot)
  const loadSum = sum === undefined ? undefined : valuesLoader(type.layout, sum)
  const sumLow = new Uint32Array(1)
  const sumHigh = new Uint32Array(1)
  const load: LoadLanes = (data, offset, low, high) => {
    if (loadBins(data, offset, low, high) === 0) return 0
    for (let i = 1; i < bins; i++) {
      const total = low[i]! + low[i - 1]!
      low[i] = total
      high[i] = high[i]! + high[i - 1]! + (total > 0xffffffff ? 1 : 0)
    }
    if (loadSum === undefined || loadSum(data, offset, sumLow, sumHigh) === 0) return bins
    low[bins] = low[bins - 1]!
    high[bins] = high[bins - 1]!
    low[bins + 1] = sumLow[0]!
    high[bins + 1] = sumHigh[0]!
    return bins + 2
  }
  return { lanes, load }
}

/**
 * A bucket's edge as Go prints it in OpenMetrics (`1.0`, `1e+06`), which is what Prometheus 3 makes of every other
 * spelling.
 */
function edgeText(edge: number): string {
  const [mantissa = '0', exponent = '0'] = edge.toExponential().split('e')
  const power = Number(exponent)
  if (edge !== 0 && (power < -4 || power >= 6)) {
    return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  }
  return Number.isInteger(edge) ? `${edge}.0` : String(edge)
}

/** Loads the values of a slot, one per element. */
export function valuesLoader(layout: Layout, slot: Slot): LoadLanes {
  const load = elementLoader(slot)
  const { count } = slot.field
  const width = slot.bytes / count
  const loadAll: LoadLanes = (data, offset, low, high) => {
    for (let i = 0, at = offset + slot.offset; i < count; i++, at += width) load(data, at, i, low, high)
    return count
  }
  if (layout.presenceWords === 0) return loadAll
  const word = (slot.index >> 5) * 4
  const bit = 1 << (slot.index & 31)
  return (data, offset, low, high) =>
    (data.getUint32(offset + word, true) & bit) === 0 ? 0 : loadAll(data, offset, low, high)
}

type LoadElement = (data: DataView, at: number, lane: number, low: Uint32Array, high: Uint32Array) => void

const float = new Float64Array(1)
const floatWords = new Uint32Array(float.buffer)

function elementLoader({ field: { kind } }: Slot): LoadElement {
  const of =
    (read: (data: DataView, at: number) => number): LoadElement =>
    (data, at, lane, low, high) => {
      const value = read(data, at)
      low[lane] = value
      high[lane] = value < 0 ? 0xffffffff : 0
    }
  switch (kind) {
    case 'u64':
    case 'i64':
    case 'f64':
      return (data, at, lane, low, high) => {
        low[lane] = data.getUint32(at, true)
        high[lane] = data.getUint32(at + 4, true)
      }
    case 'f32':
      return (data, at, lane, low, high) => {
        float[0] = data.getFloat32(at, true)
        low[lane] = floatWords[0]!
        high[lane] = floatWords[1]!
      }
    case 'u32':
    case 'symbol':
      return of((data, at) => data.getUint32(at, true))
    case 'u16':
      return of((data, at) => data.getUint16(at, true))
    case 'i8':
      return of((data, at) => data.getInt8(at))
    case 'i16':
      return of((data, at) => data.getInt16(at, true))
    case 'i32':
      return of((data, at) => data.getInt32(at, true))
    case 'bool':
      return of((data, at) => (data.getUint8(at) === 0 ? 0 : 1))
    case 'u8':
    case 'char':
      return of((data, at) => data.getUint8(at))
  }
}
