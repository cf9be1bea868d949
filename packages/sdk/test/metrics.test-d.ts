// Type tests: compiled by `npm run check`, never run. Each `@ts-expect-error` fails the check when the line below it
// compiles.

import { createMetrics, type Source } from '@sonde/sdk'

declare const source: Source
const metrics = createMetrics(source, { labels: { pool: 'a' } })

const byQueue = ['queue', 'rank'] as const
const jobs = metrics.counter('jobs_total', { labels: byQueue })
jobs.bind({ queue: 'mail', rank: '1' }).add()
metrics
  .counter('jobs_total', { labels: ['queue'] })
  .bind({ queue: 'mail' })
  .add(2)
metrics
  .total('reads_total')
  .bind()
  .set(2n ** 60n)
metrics.gauge('free_bytes', { kind: 'u64' }).bind().set(1n)
metrics
  .histogram('wait_seconds', { edges: [1], labels: byQueue })
  .bind({ queue: 'mail', rank: '1' })
  .observe(1)

// @ts-expect-error a label is missing
jobs.bind({ queue: 'mail' })
// @ts-expect-error no such label
jobs.bind({ queue: 'mail', rank: '1', pool: 'b' })
// @ts-expect-error labels are text
jobs.bind({ queue: 'mail', rank: 1 })
// @ts-expect-error the metric has labels
jobs.bind()
// @ts-expect-error the metric has none
metrics.gauge('level').bind({ queue: 'mail' })
// @ts-expect-error a difference never lands in a total
metrics.total('reads_total').bind().add(1)
// @ts-expect-error a total never lands in what is added to
jobs.bind({ queue: 'mail', rank: '1' }).set(1)
// @ts-expect-error a histogram has edges
metrics.histogram('wait_seconds', {})
// @ts-expect-error no such kind
metrics.counter('jobs_total', { kind: 'i64' })
