import type { Bin, Labels, MetricQuery, ResultMeta } from '@sonde/sdk/api'
import { queryKey } from '../api/frame.ts'
import type { QueryColumns } from '../api/query-client.ts'
import { SampleGrid } from '../api/sample-grid.ts'

/** A query of a test with its answer: samples by label values. */
export interface TestAnswer {
  readonly query: MetricQuery
  readonly meta?: Partial<ResultMeta>
  readonly series: readonly {
    readonly labels: Labels
    readonly bin?: Bin
    readonly values: readonly number[]
    readonly resetsMs?: number[]
  }[]
}

/** Columns made from numbers for a test. Samples are one second apart and end at second 1 000. */
export function testColumns(answers: readonly TestAnswer[]): QueryColumns {
  const count = Math.max(1, ...answers.flatMap(({ series }) => series.map(({ values }) => values.length)))
  const grid = new SampleGrid({ stepMs: 1_000, windowMs: count * 1_000 })
  const toMs = 1_000_000
  grid.write(
    {
      fromMs: toMs - count * 1_000,
      toMs,
      stepMs: 1_000,
      times: Float64Array.from({ length: count }, (_, i) => toMs - (count - 1 - i) * 1_000),
      results: answers.map(({ query, meta, series }) => ({
        unit: '',
        role: 'counter',
        help: '',
        resolutionMs: 1_000,
        clock: 'wall',
        notes: [],
        ...meta,
        metric: query.metric,
        function: query.function,
        series: series.map(({ labels, bin, values, resetsMs = [] }) => ({
          labels,
          ...(bin && { bin }),
          values: Float64Array.from(values),
          resetsMs,
        })),
      })),
    },
    answers.map(({ query }) => queryKey(query)),
  )
  const result: QueryColumns['result'] = (query) => grid.results.get(queryKey(query))
  return {
    snapshot: {
      grid,
      revision: 1,
      error: undefined,
      queryErrors: new Map(),
      streamFault: undefined,
      streamGaps: [],
      streamOpen: true,
      streamSinceMs: 0,
      newestMs: toMs,
    },
    grid,
    range: { kind: 'live', windowMs: count * 1_000 },
    stepMs: 1_000,
    isOld: false,
    result,
    isAnswered: (query) => result(query) !== undefined,
    columns: (query) => [...(result(query)?.columns.values() ?? [])],
  }
}
