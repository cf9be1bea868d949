import { type DisplayUnit, formatAxis, formatIn, formatQuantity, pickUnit } from '../format/number.ts'
import { type DisplayQuantity, PERCENT } from '../format/quantity.ts'
import { formatDuration } from '../format/time.ts'
import type { ChartMember, ChartSpec } from './chart-spec.ts'
import { edgeNames, heatOf } from './heat.ts'
import type { PlotLane, PlotModel } from './plot-model.ts'
import { largestValue, niceTop, smallestOf } from './scale.ts'

/** Positions on the grid that are shown. */
interface Shown {
  readonly from: number
  readonly to: number
  /** Newest position with a sample, -1 where there is none. */
  readonly newest: number
  readonly stepMs: number
}

/** What decides an axis. */
export type ScaledSpec = Pick<ChartSpec, 'members' | 'quantity' | 'scale' | 'limits' | 'edges'>

/** How the values of a chart become heights. */
export interface ValueAxis extends Pick<PlotModel, 'bottom' | 'top' | 'ticks' | 'limits' | 'heat'> {
  readonly unit: DisplayUnit
  /** Where the values of a member lie; the values themselves on a plain axis. */
  readonly heightsOf: (values: Float64Array, order: number) => Float64Array
  /** The lane of each member, where each has one. */
  readonly lanes?: readonly PlotLane[]
}

/** Share of its lane that the largest value fills, and the room below it. */
const LANE_HEIGHT = 0.72
const LANE_FOOT = 0.12
/** Least height of the logarithmic axis. Unit: decades. */
const DECADES_MIN = 4
/** Smaller values are drawn on the lowest line, because such rare errors do not matter. Unit: power of ten. */
const LOG_LEAST = -18

/** The state of an axis between two drawings: its unit and its top. */
export class ValueAxes {
  #unit: DisplayUnit | undefined
  #top: number | undefined

  /** The axis for the shown values. */
  of(spec: ScaledSpec, shown: Shown): ValueAxis {
    const columns = spec.members.map(({ values }) => values)
    const limit = Math.max(0, ...(spec.limits ?? []).map(({ value }) => value))
    const drawn = largestValue(columns, shown.from, shown.to)
    // A limit that is far above the data would press it flat; it is then named in the header of its page, not drawn.
    const largest = limit > 0 && drawn > limit * 0.02 ? Math.max(drawn, limit) : drawn
    const unit = pickUnit(spec.quantity, Number.isFinite(largest) ? largest : 0, this.#unit)
    this.#unit = unit
    if (spec.scale === 'heat') return this.#heatAxis(spec, unit, largest)
    if (spec.scale === 'log') return logAxis(columns, shown, unit)
    if (spec.scale === 'lanes') return this.#laneAxis(spec, shown, unit, largest)
    const { bottom, top } = this.#ends(spec, smallestOf(columns, shown.from, shown.to), largest, unit)
    return {
      unit,
      bottom,
      top,
      ticks: [bottom, (bottom + top) / 2, top].map((at) => ({ at, text: formatAxis(unit, at) })),
      limits: (spec.limits ?? []).map(({ value, label }) => ({
        at: value,
        text: `${label} ${formatAxis(unit, value)}`,
      })),
      heightsOf: (values) => values,
    }
  }

  /** The height shows the bin, so the axis explains the colours. */
  #heatAxis(spec: ScaledSpec, unit: DisplayUnit, largest: number): ValueAxis {
    const count = Math.max(1, spec.members.length)
    // The colours of shares mean the same in every window.
    const top = spec.quantity === PERCENT ? wholeOf(unit) : niceTop(largest, unit.divisor, this.#top)
    this.#top = top
    return {
      unit,
      bottom: 0,
      top: count,
      ticks: [0, 1 / 2, 1].map((share) => ({ at: share * count, text: formatAxis(unit, top * heatOf(share)) })),
      limits: [],
      heat: { top, unit, edges: edgeNames(spec) },
      heightsOf: (values) => values,
    }
  }

  #ends(spec: ScaledSpec, smallest: number, largest: number, unit: DisplayUnit): { bottom: number; top: number } {
    if (spec.scale === 'percent') return { bottom: 0, top: wholeOf(unit) }
    const wanted = niceTop(largest, unit.divisor, this.#top)
    // A share has a natural end.
    const top = spec.quantity === PERCENT && largest <= 1 ? Math.min(1, wanted) : wanted
    this.#top = top
    if (spec.scale === 'free' && Number.isFinite(smallest) && smallest > top / 2) return { bottom: top / 2, top }
    return { bottom: smallest < 0 ? -niceTop(-smallest, unit.divisor) : 0, top }
  }

  /** The value that fills a lane if all lanes have one scale. */
  #sharedTop(quantity: DisplayQuantity, largest: number, unit: DisplayUnit): number {
    if (quantity.words) return 1
    if (quantity.base === '%') return wholeOf(unit)
    return niceTop(largest, unit.divisor, this.#top)
  }

  #laneAxis({ members, quantity }: ScaledSpec, shown: Shown, unit: DisplayUnit, largest: number): ValueAxis {
    const isPlain = quantity.words === undefined && members.every(({ full }) => full === undefined)
    const shared = this.#sharedTop(quantity, largest, unit)
    this.#top = shared
    const lanes = members.map((member, order): PlotLane => {
      const base = members.length - 1 - order + LANE_FOOT
      return {
        base,
        isFilled: member.full === undefined,
        note: noteOf(member, shown, unit),
        isQuiet: isQuiet(member, shown, quantity),
      }
    })
    const first = lanes[0]?.base ?? 0
    const scale = [
      { at: first, text: '0' },
      { at: first + LANE_HEIGHT, text: formatAxis(unit, shared) },
    ]
    return {
      unit,
      bottom: 0,
      top: Math.max(1, members.length),
      // All lanes have one scale; it is written at the first.
      ticks: [...(isPlain ? scale : []), ...lanes.slice(isPlain ? 1 : 0).map(({ base }) => ({ at: base, text: '' }))],
      limits: [],
      lanes,
      heightsOf: (values, order) => {
        const full = members[order]?.full ?? shared
        const { base } = lanes[order]!
        // The normal state is a thin line; only the state `down` is drawn filled.
        const shareOf = quantity.words ? (value: number) => 1 - value : (value: number) => value / full
        return values.map((value) => base + Math.max(0, Math.min(1, shareOf(value))) * LANE_HEIGHT)
      },
    }
  }
}

/** The whole of a share, in raw units. */
function wholeOf({ quantity: { timeShare }, divisor }: DisplayUnit): number {
  return timeShare === undefined ? 100 * divisor : 1 / timeShare
}

/** The note of a lane: its duration in the window, or its newest value. */
function noteOf({ values }: ChartMember, { from, to, newest, stepMs }: Shown, unit: DisplayUnit): string {
  const { words, timeShare } = unit.quantity
  const now = values[newest] ?? Number.NaN
  if (words) return stateNote(formatIn(unit, now), values.subarray(from, to + 1), words[0], stepMs)
  if (timeShare === undefined) return formatQuantity(unit.quantity, now)
  let sum = Number.NaN
  for (let i = from; i <= to; i++) {
    const value = values[i]!
    if (!Number.isNaN(value)) sum = (Number.isNaN(sum) ? 0 : sum) + value
  }
  return Number.isNaN(sum) ? '–' : formatDuration(sum * timeShare * stepMs)
}

/** Whether a lane is normal in the whole window: 0, up or full as it should be. */
function isQuiet({ values, full }: ChartMember, { from, to }: Shown, { words }: DisplayQuantity): boolean {
  const least = full ?? (words ? 1 : undefined)
  return values.subarray(from, to + 1).every((value) => !(least === undefined ? value > 0 : value < least))
}

/** `up`, or `up, down 12 s` if it was not always so. */
function stateNote(now: string, values: Float64Array, off: string, stepMs: number): string {
  const count = values.reduce((sum, value) => sum + Number(value === 0), 0)
  if (count === 0) return now
  return `${now === off ? '' : `${now}, `}${off} ${formatDuration(count * stepMs)}`
}

/** All decades have equal height. The value 0 is on the lowest line. */
function logAxis(columns: readonly Float64Array[], { from, to }: Shown, unit: DisplayUnit): ValueAxis {
  const powers = columns.map((values) => values.map((value) => Math.max(LOG_LEAST, Math.log10(value))))
  const smallest = smallestOf(powers, from, to)
  const largest = largestValue(powers, from, to)
  const isEmpty = !Number.isFinite(smallest)
  const bottom = isEmpty ? LOG_LEAST : Math.floor(smallest)
  const above = Math.max(DECADES_MIN, isEmpty ? 0 : Math.ceil(largest + 0.01) - bottom)
  const top = bottom + above + (above % 2)
  return {
    unit,
    bottom,
    top,
    ticks: [bottom, (bottom + top) / 2, top].map((at) => ({ at, text: formatAxis(unit, 10 ** at) })),
    limits: [],
    heightsOf: (_values, order) => powers[order]!,
  }
}
