import { type Labels, type QueryAnswer, type QueryRequest, type SeriesAnswer, SondeError } from '@sonde/sdk'
import { QUESTION_LABEL } from './compile.ts'

/** One series of a matrix, as the server's JSON has it. */
interface MatrixSeries {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [seconds: number, value: string])[]
}

/**
 * Deals the series of a matrix out to the questions of a request. A time without a value is NaN; what a counter lost
 * is not told by PromQL.
 *
 * @throws SondeError `BKD_ANSWER` where the body is no matrix.
 */
export function answerOf(request: QueryRequest, times: Float64Array, body: unknown): QueryAnswer {
  const { fromMs, toMs, stepMs, queries } = request
  const series = queries.map((): SeriesAnswer[] => [])
  for (const { metric, values } of matrixOf(body)) {
    const { [QUESTION_LABEL]: at = '', __name__: _, ...labels } = metric
    series[Number(at)]?.push({ labels: labels as Labels, values: columnOf(values, times, stepMs), resetsMs: [] })
  }
  const results = queries.map(({ metric, function: asked }, at) => {
    const unknown = { unit: '', role: '', help: '', resolutionMs: 0, clock: '', notes: [] }
    return { metric, function: asked, ...unknown, series: series[at] ?? [] }
  })
  return { fromMs, toMs, stepMs, times, results }
}

function columnOf(values: MatrixSeries['values'], times: Float64Array, stepMs: number): Float64Array {
  const column = new Float64Array(times.length).fill(Number.NaN)
  const firstMs = times[0] ?? 0
  for (const [seconds, text] of values) {
    const at = Math.round((seconds * 1000 - firstMs) / stepMs)
    if (at >= 0 && at < column.length) column[at] = numberOf(text)
  }
  return column
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text)
}

function matrixOf(body: unknown): readonly MatrixSeries[] {
  const { status, data } = (body ?? {}) as { status?: unknown; data?: { resultType?: unknown; result?: unknown } }
  if (status === 'success' && data?.resultType === 'matrix' && Array.isArray(data.result)) return data.result
  throw new SondeError('BKD_ANSWER', 'the answer of the Prometheus is no matrix; is it a Prometheus-compatible server?')
}
