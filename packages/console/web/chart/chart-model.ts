import { MARKERS, type SeriesSlot, SLOTS } from '../components/palette.ts'
import { countText, type DisplayUnit, formatIn, joinUnit } from '../format/number.ts'
import { formatClock, formatDuration } from '../format/time.ts'
import type { ChartMark, ChartMember, ChartSpec, ChartView } from './chart-spec.ts'
import { commonGaps, newestPosition } from './gaps.ts'
import { busiest } from './heat.ts'
import { HERD_MIN_COUNT, Herd, type HerdSummary } from './herd.ts'
import type { HeatScale, PlotLane, PlotLine, PlotModel } from './plot-model.ts'
import { ValueAxes } from './value-axis.ts'

/** A chart that is ready to be drawn, with the texts of its header and its label. */
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
/** Bins that a sentence names, those with most in them. */
const HEAT_SAID_COUNT = 4
/** One shared object, so that a plot recognises an unchanged value. */
const NO_MARKS: readonly ChartMark[] = []

/** Keeps the state of a chart between drawings: its unit, its top, and its herd. */
export class ChartModeller {
  #axes = new ValueAxes()
  #herd = new Herd()

  /** Turns a description and a window into what is drawn. */
  model(spec: ChartSpec, view: ChartView): ChartModel {
    const { times, stepMs } = view
    const start = times[0] ?? view.toMs
    const from = Math.max(0, Math.ceil((view.fromMs - start) / stepMs))
    const to = Math.min(times.length - 1, Math.floor((view.toMs - start) / stepMs))
    const columns = spec.members.map(({ values }) => values)
    const newest = newestPosition(columns, from, to)
    const { unit, heightsOf, lanes, ...axis } = this.#axes.of(spec, { from, to, newest, stepMs })
    const isPlain = spec.scale !== 'lanes' && spec.scale !== 'log' && spec.scale !== 'heat'
    const isHerd = isPlain && view.mode === 'herd' && spec.isAlike !== false && spec.members.length >= HERD_MIN_COUNT
    const herd = isHerd
      ? this.#herd.update(
          spec.members,
          { firstIndex: view.firstIndex, from, to },
          { scale: axis.top - axis.bottom, stepMs, pinned: view.pinned },
        )
      : undefined
    const bandLabel = herd && bandName(spec, herd, newest, stepMs)
    const lines = herd
      ? herdLines(spec, herd, bandLabel ?? '')
      : lanes
        ? laneLines(spec, lanes, heightsOf)
        : axis.heat
          ? spec.members.map((member) => lineOf(member, undefined, false, 0))
          : plainLines(spec, view.pinned, heightsOf)
    const plot: PlotModel = {
      ...axis,
      times,
      stepMs,
      lines,
      band: herd && { low: herd.low, high: herd.high },
      fromMs: view.fromMs,
      toMs: view.toMs,
      zone: view.zone,
      marks: spec.marks ?? NO_MARKS,
      resetsMs: [...new Set(spec.members.flatMap(({ resetsMs }) => resetsMs ?? []))].filter(
        (at) => at >= view.fromMs && at <= view.toMs,
      ),
      columns: isPlain ? columns : lines.map(({ heights }) => heights),
      endPx: view.endPx ?? 0,
      isLive: view.isLive,
      isGrowing: view.isGrowing ?? false,
      isKnown: view.isKnown,
      bandLabel,
    }
    const gaps = countGaps(columns, from, newest)
    const sentence = sentenceOf(spec, view, { unit, lines, newest, gaps, heat: axis.heat })
    return { plot, unit, newest, herd, sentence }
  }
}

/**
 * How long after its newest sample a member still counts as drawn: sources answer one after the other. Unit:
 * milliseconds.
 */
const DRAWN_WITHIN_MS = 3_000
const DRAWN_WITHIN_COUNT = 3

/** Members that have a sample where the drawing ends, which is the newest of all. */
function drawnAtEnd(members: readonly ChartMember[], newest: number, stepMs: number): readonly ChartMember[] {
  if (newest < 0) return members
  const least = newest - Math.max(DRAWN_WITHIN_COUNT, Math.ceil(DRAWN_WITHIN_MS / stepMs))
  return members.filter(({ values }) => newestPosition([values], Math.max(0, least), newest) >= 0)
}

const PEERS: ChartSpec['noun'] = ['peer', 'peers']

/** `8 NICs`, or `7 peers` if some are lit; `7 of 8 NICs` if one of them is not drawn at the end. */
function herdName(noun: ChartSpec['noun'], count: number, drawnCount: number): string {
  const name = countText(count, ...noun)
  return drawnCount < count ? `${drawnCount} of ${name}` : name
}

/** The possible texts at the right end of a herd with a current newest sample, for any lit members. */
export function herdNames({ members, noun }: ChartSpec, stepMs: number): readonly string[] {
  const columns = members.map(({ values }) => values)
  const newest = newestPosition(columns, 0, (columns[0]?.length ?? 0) - 1)
  const drawnCount = drawnAtEnd(members, newest, stepMs).length
  return [noun, PEERS].map((name) => herdName(name, members.length, drawnCount))
}

function bandName(spec: ChartSpec, { lit, peerCount }: HerdSummary, newest: number, stepMs: number): string {
  const peers = spec.members.filter((_, place) => !lit.includes(place))
  return herdName(lit.length > 0 ? PEERS : spec.noun, peerCount, drawnAtEnd(peers, newest, stepMs).length)
}

type HeightsOf = (values: Float64Array, order: number) => Float64Array

function lineOf(
  { key, label, values }: ChartMember,
  slot: SeriesSlot | undefined,
  dashed: boolean,
  widthPx: number,
  heights = values,
): PlotLine {
  return { key, label, values, heights, slot, dashed, widthPx, marker: slot && MARKERS[slot] }
}

function herdLines(spec: ChartSpec, herd: HerdSummary, name: string): PlotLine[] {
  const median = lineOf({ key: '', label: name, values: herd.median }, undefined, false, 1.4)
  const family = spec.slots?.[0] ?? 1
  const slots = [family, ...LIT_SLOTS.filter((slot) => slot !== family)]
  const lit = herd.lit.map((position, order) =>
    lineOf(spec.members[position]!, slots[order] ?? family, herd.lit.length > 1, 2),
  )
  return [median, ...lit]
}

/** Lanes are told apart by their place: all have the hue of the family. */
function laneLines(spec: ChartSpec, lanes: readonly PlotLane[], heightsOf: HeightsOf): PlotLine[] {
  const slot = spec.slots?.[0] ?? 1
  return spec.members.map((member, order) => {
    const { marker: _, ...line } = lineOf(member, slot, false, 1, heightsOf(member.values, order))
    return { ...line, marker: undefined, lane: lanes[order]! }
  })
}

function plainLines(spec: ChartSpec, pinned: ReadonlySet<string>, heightsOf: HeightsOf): PlotLine[] {
  const { members } = spec
  const slots = [...new Set([...(spec.slots ?? []), ...SLOTS])]
  if (members.length <= SLOT_COUNT) {
    const widthPx = members.length > 4 ? 1.4 : 1.7
    return members.map((member, order) =>
      lineOf(member, slots[order], members.length > 1, widthPx, heightsOf(member.values, order)),
    )
  }
  // With more members than colours, all are grey except for members highlighted by the user.
  const lit = members.filter(({ key }) => pinned.has(key)).slice(0, SLOT_COUNT)
  return members.map((member, place) => {
    const order = lit.indexOf(member)
    const heights = heightsOf(member.values, place)
    if (order < 0) return lineOf(member, undefined, false, 0.8, heights)
    return lineOf(member, slots[order], lit.length > 1, 2, heights)
  })
}

/** Counts gaps between the first and the newest sample. Time before the first sample is no gap. */
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
    readonly heat: HeatScale | undefined
  },
): string {
  const span = formatDuration(view.toMs - view.fromMs)
  if (!view.isKnown) return `${spec.title}, ${span}. Loading.`
  if (facts.newest < 0) return `${spec.title}, ${span}. No sample.`
  const { unit, newest, heat } = facts
  const values = (heat ? busiest(facts.lines, newest, HEAT_SAID_COUNT) : facts.lines.slice(0, 8)).map(
    ({ label, values: column }) => `${label} ${joinUnit(formatIn(unit, column[newest] ?? Number.NaN), unit.label)}`,
  )
  const said = heat && values.length === 0 ? 'Nothing counted' : values.join(', ')
  const scale = heat ? ` Colours from 0 to ${joinUnit(formatIn(unit, heat.top), unit.label)}.` : ''
  const gaps = facts.gaps === 0 ? 'No gap' : countText(facts.gaps, 'gap')
  const marks = (spec.marks ?? [])
    .filter(({ fromMs }) => fromMs >= view.fromMs && fromMs <= view.toMs)
    .map(({ fromMs, label }) => ` ${formatClock(fromMs, view.zone)}: ${label}.`)
  return `${spec.title}, ${span}. ${said}. ${gaps}.${scale}${marks.join('')}`
}
