import { countOf, type DisplayUnit, formatIn, joinUnit, pickUnit } from '../format/number.ts'
import { PERCENT } from '../format/quantity.ts'
import { formatClock, formatDuration } from '../format/time.ts'
import type { ChartMark, ChartMember, ChartSpec, ChartView } from './chart-spec.ts'
import { commonGaps, newestPosition } from './gaps.ts'
import { HERD_MIN_COUNT, Herd, type HerdSummary } from './herd.ts'
import { MARKERS, type SeriesSlot, SLOTS } from './palette.ts'
import type { PlotLine, PlotModel } from './plot.ts'
import { largestOf, niceTop, smallestOf } from './scale.ts'

/** A chart that is ready to be drawn, and what its header and its label say. */
export interface ChartModel {
  readonly plot: PlotModel
  readonly unit: DisplayUnit
  /** Newest position on the grid with a sample, -1 where there is none. */
  readonly newest: number
  /** The chart in one sentence. */
  readonly sentence: string
  readonly herd: HerdSummary | undefined
}

/** Most lines that have a place of their own. */
const SLOT_COUNT = SLOTS.length
const LIT_SLOTS: readonly SeriesSlot[] = [3, 4]
/** One and the same, so that a plot sees that nothing changed. */
const NO_MARKS: readonly ChartMark[] = []

/** Keeps what a chart remembers from one drawing to the next: its unit, its top, and the herd that was computed so far. */
export class ChartModeller {
  #unit: DisplayUnit | undefined
  #top: number | undefined
  #herd = new Herd()

  /** Turns a description and a window into what is drawn. */
  model(spec: ChartSpec, view: ChartView): ChartModel {
    const { times, stepMs } = view
    const start = times[0] ?? view.toMs
    const from = Math.max(0, Math.ceil((view.fromMs - start) / stepMs))
    const to = Math.min(times.length - 1, Math.floor((view.toMs - start) / stepMs))
    const columns = spec.members.map(({ values }) => values)
    const newest = newestPosition(columns, from, to)
    const { unit, top, bottom } = this.#axis(spec, columns, from, to)
    const isHerd = view.mode === 'herd' && spec.isAlike !== false && spec.members.length >= HERD_MIN_COUNT
    const herd = isHerd
      ? this.#herd.update(
          spec.members,
          { firstIndex: view.firstIndex, from, to },
          { scale: top - bottom, stepMs, pinned: view.pinned },
        )
      : undefined
    const lines = herd ? herdLines(spec, herd) : plainLines(spec, view.pinned)
    const bandLabel = herd ? herdName(spec, herd) : undefined
    const plot: PlotModel = {
      times,
      stepMs,
      lines,
      band: herd && { low: herd.low, high: herd.high },
      fromMs: view.fromMs,
      toMs: view.toMs,
      bottom,
      top,
      unit,
      zone: view.zone,
      limits: spec.limits ?? [],
      marks: spec.marks ?? NO_MARKS,
      resetsMs: spec.members
        .flatMap(({ resetsMs }) => resetsMs ?? [])
        .filter((at) => at >= view.fromMs && at <= view.toMs),
      columns,
      isLive: view.isLive,
      isKnown: view.isKnown,
      bandLabel,
    }
    const sentence = sentenceOf(spec, view, { unit, lines, newest, gaps: countGaps(columns, from, newest) })
    return { plot, unit, newest, herd, sentence }
  }

  #axis(
    spec: ChartSpec,
    columns: readonly Float64Array[],
    from: number,
    to: number,
  ): { unit: DisplayUnit; top: number; bottom: number } {
    const limit = Math.max(0, ...(spec.limits ?? []).map(({ value }) => value))
    const drawn = largestOf(columns, from, to)
    // A limit that is far above the data would press it flat; it is then named in the header of its page, not drawn.
    const largest = limit > 0 && drawn > limit * 0.02 ? Math.max(drawn, limit) : drawn
    const unit = pickUnit(spec.quantity, Number.isFinite(largest) ? largest : 0, this.#unit)
    this.#unit = unit
    if (spec.scale === 'percent') return { unit, bottom: 0, top: 100 * unit.divisor }
    if (spec.scale === 'switch') return { unit, bottom: 0, top: 1 }
    const wanted = niceTop(largest, unit.divisor, this.#top)
    // A share has a natural end.
    const top = spec.quantity === PERCENT && largest <= 1 ? Math.min(1, wanted) : wanted
    this.#top = top
    const smallest = smallestOf(columns, from, to)
    if (spec.scale === 'free' && Number.isFinite(smallest) && smallest > top / 2) return { unit, bottom: top / 2, top }
    return { unit, bottom: smallest < 0 ? -niceTop(-smallest, unit.divisor) : 0, top }
  }
}

/** `8 NICs`, or `7 peers` where some are lit. */
function herdName(spec: ChartSpec, herd: HerdSummary): string {
  return herd.lit.length > 0 ? countOf(herd.peerCount, 'peer') : countOf(herd.peerCount, ...spec.noun)
}

function lineOf(member: ChartMember, slot: SeriesSlot | undefined, dashed: boolean, widthPx: number): PlotLine {
  const { key, label, values } = member
  return { key, label, values, slot, dashed, widthPx, marker: slot && MARKERS[slot] }
}

function herdLines(spec: ChartSpec, herd: HerdSummary): PlotLine[] {
  const median: PlotLine = {
    key: '',
    label: herdName(spec, herd),
    values: herd.median,
    slot: undefined,
    dashed: false,
    marker: undefined,
    widthPx: 1.4,
  }
  const family = spec.slots?.[0] ?? 1
  const slots = [family, ...LIT_SLOTS.filter((slot) => slot !== family)]
  const lit = herd.lit.map((position, order) =>
    lineOf(spec.members[position]!, slots[order] ?? family, herd.lit.length > 1, 2),
  )
  return [median, ...lit]
}

function plainLines(spec: ChartSpec, pinned: ReadonlySet<string>): PlotLine[] {
  const { members } = spec
  const slots = [...new Set([...(spec.slots ?? []), ...SLOTS])]
  if (members.length <= SLOT_COUNT) {
    return members.map((member, order) =>
      lineOf(member, slots[order], members.length > 1, members.length > 4 ? 1.4 : 1.7),
    )
  }
  // There is no ninth colour: all are grey but those that are lit by hand.
  const lit = members.filter(({ key }) => pinned.has(key)).slice(0, SLOT_COUNT)
  return members.map((member) => {
    const order = lit.indexOf(member)
    return order < 0 ? lineOf(member, undefined, false, 0.8) : lineOf(member, slots[order], lit.length > 1, 2)
  })
}

/** Runs without any sample between the first and the newest one; what was before the first is no gap. */
function countGaps(columns: readonly Float64Array[], from: number, newest: number): number {
  return newest < 0 ? 0 : commonGaps(columns, from, newest).filter((gap) => gap.from > from).length
}

function sentenceOf(
  spec: ChartSpec,
  view: ChartView,
  facts: {
    readonly unit: DisplayUnit
    readonly lines: readonly PlotLine[]
    readonly newest: number
    readonly gaps: number
  },
): string {
  const span = formatDuration(view.toMs - view.fromMs)
  if (!view.isKnown) return `${spec.title}, ${span}. Loading.`
  if (facts.newest < 0) return `${spec.title}, ${span}. No sample.`
  const values = facts.lines
    .slice(0, 8)
    .map(
      ({ label, values: column }) =>
        `${label} ${joinUnit(formatIn(facts.unit, column[facts.newest] ?? Number.NaN), facts.unit.label)}`,
    )
  const gaps = facts.gaps === 0 ? 'No gap' : countOf(facts.gaps, 'gap')
  const marks = (spec.marks ?? [])
    .filter(({ fromMs }) => fromMs >= view.fromMs && fromMs <= view.toMs)
    .map(({ fromMs, label }) => ` ${formatClock(fromMs, view.zone)}: ${label}.`)
  return `${spec.title}, ${span}. ${values.join(', ')}. ${gaps}.${marks.join('')}`
}
