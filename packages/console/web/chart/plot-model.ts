import type uPlot from 'uplot'
import type { Marker, SeriesSlot } from '../components/palette.ts'
import type { DisplayUnit } from '../format/number.ts'
import type { TimeZoneChoice } from '../format/time.ts'
import type { ChartMark } from './chart-spec.ts'

/** A strip of the plot in which one line is drawn alone. The axis counts strips: the lowest lies between 0 and 1. */
export interface PlotLane {
  /** Where 0 of the line lies on the axis. */
  readonly base: number
  /** Whether the area below the line is filled. */
  readonly isFilled: boolean
  /** The text below the name at the right end: the newest value, or the duration of a state. */
  readonly note: string
  /** Whether nothing is in it in the window: all of it 0, up, or as much as it can be. */
  readonly isQuiet: boolean
}

/** The parts of a heat strip, which has no lines. */
export interface HeatScale {
  /** The value with the strongest colour. Unit: that of the values. */
  readonly top: number
  /** The unit of written values. */
  readonly unit: DisplayUnit
  /** Names of the edges between bins, from the lowest. */
  readonly edges: readonly string[]
}

/** One line as it is drawn. `slot` undefined is the grey of the herd. */
export interface PlotLine {
  readonly key: string
  readonly label: string
  /** The measured values, in raw units. */
  readonly values: Float64Array
  /** Where it lies on the axis; the values themselves where the axis is plain. */
  readonly heights: Float64Array
  readonly slot: SeriesSlot | undefined
  /** Whether the line is drawn with its place's dash; a lone series is solid. */
  readonly dashed: boolean
  readonly marker: Marker | undefined
  readonly widthPx: number
  readonly lane?: PlotLane
}

/** The parts around the lines. */
interface Surroundings {
  /** Labels of the axis with a grid line each; an empty one is the grid line alone. */
  readonly ticks: readonly { readonly at: number; readonly text: string }[]
  /** Hard limits: a dotted line with its name. */
  readonly limits: readonly { readonly at: number; readonly text: string }[]
  /** Things that began and ended: flags, and the span between them tinted. */
  readonly marks: readonly ChartMark[]
  /** Times at which a counter restarted. */
  readonly resetsMs: readonly number[]
  /** Every member's column, to tell gaps of all from gaps of one. */
  readonly columns: readonly Float64Array[]
  /** Whether the right end is now. */
  readonly isLive: boolean
  /** Whether the window starts with the first stored sample. Missing samples at its start are then no gap. */
  readonly isGrowing: boolean
  /** Whether the samples have arrived, so that a missing sample is a gap. */
  readonly isKnown: boolean
  /** Name of the band at the right end. */
  readonly bandLabel: string | undefined
}

/** Everything that a plot draws. */
export interface PlotModel extends Surroundings {
  readonly times: Float64Array
  readonly stepMs: number
  readonly lines: readonly PlotLine[]
  readonly band: { readonly low: Float64Array; readonly high: Float64Array } | undefined
  /** Where the lines are bins, drawn as cells. */
  readonly heat?: HeatScale | undefined
  readonly fromMs: number
  readonly toMs: number
  /** Ends of the axis. */
  readonly bottom: number
  readonly top: number
  readonly zone: TimeZoneChoice
  /** Least room at the right end, so that plots below one another line up. Unit: CSS pixels. */
  readonly endPx: number
}

/** Whether a line is drawn in the layer: it is grey, and has no band below it. */
export function isInLayer({ band, heat }: PlotModel, { slot, lane }: PlotLine): boolean {
  return band === undefined && heat === undefined && slot === undefined && lane === undefined
}

/**
 * The lines of which the plot library knows, by their places: it does work for each. Those of the layer, and cells, are
 * drawn without it.
 */
export function libraryLines(model: PlotModel): readonly number[] {
  if (model.heat) return []
  return [...model.lines.keys()].filter((place) => !isInLayer(model, model.lines[place]!))
}

/** The data for the plot library, which draws with our own paths and needs only the number and length of columns. */
export function dataOf(model: PlotModel): uPlot.AlignedData {
  const band = model.band ? [model.band.high] : []
  return [model.times, ...band, ...libraryLines(model).map((place) => model.lines[place]!.heights)]
}

/** Whether a live plot would look the same: new samples are within its last pixel and are drawn when it is full. */
export function isAsDrawn(drawn: PlotModel, next: PlotModel, widthPx: number): boolean {
  const newest = ({ times }: PlotModel): number => times[times.length - 1] ?? 0
  return (
    next.isLive &&
    drawn.isLive &&
    drawn.toMs === next.toMs &&
    drawn.fromMs === next.fromMs &&
    drawn.top === next.top &&
    drawn.bottom === next.bottom &&
    drawn.heat?.top === next.heat?.top &&
    drawn.zone === next.zone &&
    drawn.stepMs === next.stepMs &&
    drawn.marks === next.marks &&
    newest(next) - newest(drawn) < (next.toMs - next.fromMs) / widthPx
  )
}

/** Properties that only a new plot can change. */
export function shapeOf(model: PlotModel): string {
  const lines = model.lines.map(({ slot, dashed, widthPx, lane }) => `${slot}${dashed}${widthPx}${lane?.base ?? ''}`)
  return `${model.band ? 'band' : ''}${model.heat ? 'heat' : ''}|${lines.join()}`
}
