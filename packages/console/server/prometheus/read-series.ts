import type { Labels } from '@sonde/sdk'
import {
  type Bin,
  type SeriesAnswer,
  SeriesBudget,
  type SeriesQuery,
  tooManyValues,
  VALUE_COUNT_LIMIT,
} from '@sonde/sdk/internal'
import { PART_LABEL, type Part } from './compile.ts'
import { type ForeignPoint, labelsIn, objectIn, pointIn } from './foreign-json.ts'

interface Cumulative {
  readonly labels: Labels
  readonly byEdge: Map<number, Float64Array>
}

/** The results for one query. */
export interface Gathered {
  readonly series: SeriesAnswer[]
  readonly histograms: Map<string, Cumulative>
  readonly resets: { readonly labels: Labels; readonly timesMs: readonly number[] }[]
  readonly room: SeriesBudget
}

/** Assigns the series of an answer to their queries, on a grid of times. */
export class SeriesReader {
  readonly gathered: readonly Gathered[]
  readonly #metrics: readonly string[]
  readonly #parts: readonly Part[]
  readonly #grid: Float64Array
  readonly #stepMs: number
  #values = 0

  constructor(
    queries: readonly Pick<SeriesQuery, 'metric'>[],
    parts: readonly Part[],
    grid: Float64Array,
    stepMs: number,
  ) {
    this.gathered = queries.map(({ metric }) => {
      return { series: [], histograms: new Map(), resets: [], room: new SeriesBudget(metric) }
    })
    this.#metrics = queries.map(({ metric }) => metric)
    this.#parts = parts
    this.#grid = grid
    this.#stepMs = stepMs
  }

  /**
   * Adds one series in the form that the server wrote.
   *
   * @throws SondeError `QRY_SERIES_LIMIT` or `QRY_COST_LIMIT` if there are too many; SyntaxError if it is no series.
   */
  take(text: string): void {
    const { metric, value: point, values: points = [point] } = objectIn(text)
    if (!Array.isArray(points)) throw new SyntaxError('no series of a matrix')
    const values = points.map(pointIn)
    const { [PART_LABEL]: place = '', __name__: name = '', ...labels } = labelsIn(metric)
    const part = this.#parts[Number(place)]
    const questions = part?.questions.get(name) ?? part?.questions.get('')
    if (part === undefined || questions === undefined) throw new SyntaxError('a series that was not asked for')
    this.#values += this.#grid.length
    for (const question of questions) {
      if (this.#values > VALUE_COUNT_LIMIT) throw tooManyValues(this.#metrics[question] ?? '', this.#values)
      const { room, series, resets, histograms } = this.gathered[question] as Gathered
      if (part.kind === 'restarts') resets.push({ labels, timesMs: values.map(([seconds]) => seconds * 1000) })
      else {
        room.take(labels)
        if (part.kind === 'bins') this.#takeBin(histograms, labels, values)
        else series.push({ labels, values: this.#column(values), resetsMs: [] })
      }
    }
  }

  #takeBin(histograms: Gathered['histograms'], { le = '', ...labels }: Labels, values: readonly ForeignPoint[]): void {
    const edge = numberIn(le)
    if (Number.isNaN(edge)) return
    const key = JSON.stringify(Object.entries(labels).sort())
    const histogram = histograms.get(key) ?? { labels, byEdge: new Map() }
    histograms.set(key, histogram)
    histogram.byEdge.set(edge, this.#column(values))
  }

  /** Values at their positions on the grid; values of other times are ignored. */
  #column(values: readonly ForeignPoint[]): Float64Array {
    const column = new Float64Array(this.#grid.length).fill(Number.NaN)
    const startMs = this.#grid[0] ?? 0
    for (const [seconds, text] of values) {
      const place = Math.round((seconds * 1000 - startMs) / this.#stepMs)
      if (place >= 0 && place < column.length) column[place] = numberIn(text)
    }
    return column
  }
}

/** The series of a query: bins computed from buckets, and the times of counter restarts. */
export function gatheredSeries({ series, histograms, resets }: Gathered): SeriesAnswer[] {
  const timesOf = new Map(resets.map(({ labels, timesMs }) => [seriesKeyOf(labels), timesMs]))
  const counted = series.map((one) => ({ ...one, resetsMs: timesOf.get(seriesKeyOf(one.labels)) ?? [] }))
  return [...counted, ...[...histograms.values()].flatMap(binsOf)]
}

function seriesKeyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Each bucket counts values at or below its edge, so a bin is the difference to the bucket before. */
function binsOf({ labels, byEdge }: Cumulative): SeriesAnswer[] {
  const edges = [...byEdge].sort(([a], [b]) => a - b)
  return edges.map(([edge, values], i) => {
    const below = edges[i - 1]
    const bin: Bin = { above: below?.[0] ?? null, upTo: edge === Number.POSITIVE_INFINITY ? null : edge }
    const counts = below === undefined ? values : values.map((value, at) => Math.max(0, value - (below[1][at] ?? 0)))
    return { labels, bin, values: counts, resetsMs: [] }
  })
}

function numberIn(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  if (text === '-Inf') return Number.NEGATIVE_INFINITY
  return text === '' ? Number.NaN : Number(text)
}
