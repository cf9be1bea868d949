import { SondeError } from '../errors.ts'
import type { Slot } from '../schema/layout.ts'
import type { RecordType } from '../schema/record-type.ts'
import { aggregateSeries } from './aggregate.ts'
import type { Column } from './column.ts'
import { estimateIntervalMs, evaluate } from './evaluate.ts'
import { type QueryResult, SERIES_COUNT_LIMIT, type SeriesAnswer, type SeriesQuery } from './form.ts'

/** Where a metric comes from: the type, the field, and the columns that match. */
export interface Found {
  readonly type: RecordType
  readonly slot: Slot
  readonly clock: string
  readonly columns: readonly Column[]
}

/** Evaluates one question over what was found for it: nothing found is an answer without series, not an error. */
export function answerQuery(
  query: SeriesQuery,
  found: readonly Found[],
  grid: Float64Array,
  stepMs: number,
): QueryResult {
  const first = found[0]
  const count = found.reduce((sum, { columns }) => sum + columns.length, 0)
  if (count > SERIES_COUNT_LIMIT) {
    throw new SondeError(
      'QRY_SERIES_LIMIT',
      `${query.metric} matches ${count} series; at most ${SERIES_COUNT_LIMIT}: add a matcher`,
    )
  }
  let series: SeriesAnswer[] = []
  for (const { columns } of found) {
    for (const column of columns)
      series.push({ labels: column.labels, ...evaluate(column, query.function, grid, stepMs) })
  }
  if (query.by !== undefined) series = aggregateSeries(series, query.by, query.aggregate)
  const sample = first?.columns[0]
  return {
    metric: query.metric,
    unit: first?.slot.field.unit ?? '',
    role: first?.slot.field.role ?? '',
    help: first?.slot.field.help ?? '',
    function: query.function,
    resolutionMs: sample === undefined ? 0 : sample.intervalMs || estimateIntervalMs(sample.times),
    clock: first?.clock ?? '',
    series,
  }
}
