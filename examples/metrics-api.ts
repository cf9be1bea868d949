// Counters, gauges and histograms with label sets, and two contexts in one process that know nothing of each other.
// Run it with: npx node --conditions=source examples/metrics-api.ts, then: curl http://127.0.0.1:9464/metrics

import { createMetrics, createSchema } from '@sonde/sdk'

const schema = createSchema({ name: 'mail', prometheus: { endpoint: `127.0.0.1:${process.env.PORT ?? 9464}` } })
await schema.start()
const source = schema.createSource({ id: 'example-host', tag: 'workers' })

// A label set is a list of names; metrics may share one. Constant labels are on every series of a context.
const byQueue = ['queue', 'priority'] as const
const metrics = createMetrics(source, { labels: { pool: 'a' }, flushIntervalMs: 1000 })

const jobs = metrics.counter('jobs_total', { help: 'Jobs done', labels: byQueue })
const waiting = metrics.gauge('jobs_waiting', { help: 'Jobs that wait', labels: byQueue, kind: 'u64' })
const duration = metrics.histogram('job_duration_seconds', {
  help: 'How long a job takes',
  unit: 'seconds',
  labels: ['queue'],
  edges: [0.01, 0.1, 1, 10],
})
// A total that somebody else counts is set; differences have no way into it.
const sent = metrics.total('sent_bytes_total', { help: 'Bytes sent, as the driver counts them', unit: 'bytes' }).bind()

// Labels are looked up once; what is written often goes straight to its place.
const letters = jobs.bind({ queue: 'letters', priority: 'high' })
const lettersDuration = duration.bind({ queue: 'letters' })
for (let job = 1; job <= 1000; job++) {
  letters.add()
  lettersDuration.observe(job / 500)
}
jobs.bind({ queue: 'parcels', priority: 'low' }).add(3)
waiting.bind({ queue: 'letters', priority: 'high' }).set(12)
sent.set(18_446_744_073_709_551_615n)

// A library inside the same process has a context of its own.
const library = createMetrics(source, { labels: { pool: 'b' } })
library.counter('jobs_total', { labels: byQueue }).bind({ queue: 'letters', priority: 'high' }).add(5)

// Everything, histograms included; without it the interval does the same.
await Promise.all([metrics.flush(), library.flush()])

console.log(`${schema.status().prometheus}/metrics`)

// The listener alone does not keep a process; this one is at work for a minute.
setTimeout(() => schema.close(), 60_000)
