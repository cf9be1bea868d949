import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { type Emitted, property, recordingSource, sondeError, until } from '../../../test/helper.ts'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { absenceType } from '../../schema/builtin.ts'
import type { ReadRecord } from '../../schema/reader.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { MetricsOptions } from './options.ts'

const T0 = 1_800_000_000_000_000_000n

/** A context that is sampled only when a test says so, and a Prometheus view of it. */
function rig(options: MetricsOptions = {}) {
  const view = new PrometheusRig()
  const source = view.source()
  const context = (own: MetricsOptions = {}) => createMetrics(source, { flushIntervalMs: 0, ...options, ...own })
  const lines = async (...metrics: readonly Metrics[]) => {
    for (const each of metrics) each.sample()
    return (await view.lines()).map((line) => line.replace(/ 0*(?=\d)/, ' '))
  }
  return { view, source, context, metrics: context(), lines }
}

test('counters, totals, gauges and histograms are shown with their labels and the constant ones', async () => {
  const { metrics, lines } = rig({ labels: { pool: 'a' } })
  const jobs = metrics.counter('jobs_total', { labels: ['queue'], help: 'Jobs done' }).bind({ queue: 'mail' })
  jobs.add()
  jobs.add(2n ** 53n)
  jobs.add(2)
  metrics.total('sent_bytes_total', { unit: 'bytes' }).bind().set(18446744073709551615n)
  metrics.gauge('room_celsius', { unit: 'celsius' }).bind().set(-1.5)
  metrics.gauge('free_bytes', { unit: 'bytes', kind: 'u64' }).bind().set(9007199254740993n)
  const wait = metrics.histogram('wait_seconds', { edges: [0.1, 1], unit: 'seconds', labels: ['queue'] as const })
  for (const value of [0.05, 0.5, 2]) wait.bind({ queue: 'mail' }).observe(value)
  assert.deepEqual(await lines(metrics), [
    'jobs_total{queue="mail",pool="a"} 9007199254740995',
    'sent_bytes_total{pool="a"} 18446744073709551615',
    'room_celsius{pool="a"} -1.5',
    'free_bytes{pool="a"} 9007199254740993',
    'wait_seconds_bucket{queue="mail",pool="a",le="0.1"} 1',
    'wait_seconds_bucket{queue="mail",pool="a",le="1.0"} 2',
    'wait_seconds_bucket{queue="mail",pool="a",le="+Inf"} 3',
    'wait_seconds_count{queue="mail",pool="a"} 3',
    'wait_seconds_sum{queue="mail",pool="a"} 2.55',
  ])
})

test('a counter is shown at 0 when it is bound; a gauge and a total only once they have a value', async () => {
  const { metrics, lines } = rig()
  metrics.counter('jobs_total').bind()
  const total = metrics.total('reads_total').bind()
  const level = metrics.gauge('level').bind()
  assert.deepEqual(await lines(metrics), ['jobs_total 0'])
  total.set(0)
  level.set(0)
  assert.deepEqual(await lines(metrics), ['jobs_total 0', 'reads_total 0', 'level 0'])
})

test('a histogram of whole numbers has an exact sum', async () => {
  const { metrics, lines } = rig()
  const size = metrics.histogram('size_bytes', { edges: [1], kind: 'u64', unit: 'bytes' }).bind()
  size.observe(Number.MAX_SAFE_INTEGER)
  size.observe(2)
  assert.equal((await lines(metrics)).at(-1), 'size_bytes_sum 9007199254740993')
})

test('the same labels are the same handle, in whatever order, also in another context of the source', () => {
  const { metrics, context } = rig()
  const jobs = metrics.counter('jobs_total', { labels: ['queue', 'rank'] })
  const handle = jobs.bind({ queue: 'mail', rank: '1' })
  assert.equal(jobs.bind({ rank: '1', queue: 'mail' }), handle)
  assert.equal(metrics.counter('jobs_total', { labels: ['rank', 'queue'] }), jobs)
  const same = context({ labels: { rank: '1' } }).counter('jobs_total', { labels: ['queue'], help: 'Said otherwise' })
  assert.equal(same.bind({ queue: 'mail' }), handle)
  assert.notEqual(same.bind({ queue: 'other' }), handle)
  assert.deepEqual([jobs.seriesCount, same.seriesCount], [1, 2])
})

test('contexts of one source do not silence each other, neither by what they count nor by closing', async () => {
  const { context, lines } = rig()
  const a = context({ labels: { pool: 'a' } })
  const b = context({ labels: { pool: 'b' } })
  const c = context({ labels: { pool: 'b' } })
  const [inA, inB, inC] = [a, b, c].map((metrics) => metrics.counter('jobs_total').bind())
  inA?.add(1)
  inB?.add(2)
  await b.close()
  inC?.add(3)
  assert.deepEqual(await lines(a, c), ['jobs_total{pool="a"} 1', 'jobs_total{pool="b"} 5'])
})

test('a series that is let go is sampled no more; bound again it begins anew', async () => {
  const { recorded, metrics } = recorder()
  const jobs = metrics.counter('jobs_total', { labels: ['queue'] })
  const handle = jobs.bind({ queue: 'mail' })
  handle.add(7)
  jobs.release({ queue: 'mail' })
  jobs.release({ queue: 'mail' })
  handle.add(1)
  metrics.sample(T0)
  assert.deepEqual(recorded(), [])
  jobs.bind({ queue: 'mail' }).add(1)
  metrics.sample(T0)
  assert.deepEqual(recorded(), [{ time: T0, queue: 'mail', jobs_total: 1n }])
})

/** A context over a source whose records are kept. */
function recorder(options: MetricsOptions = {}) {
  const { source, emitted } = recordingSource()
  const metrics = createMetrics(source, { flushIntervalMs: 0, ...options })
  return { source, metrics, recorded: () => valuesOf(emitted.splice(0)) }
}

/** All series except those reported as gone. */
function valuesOf(emitted: readonly Emitted[]): readonly ReadRecord[] {
  return emitted.filter(({ type }) => type !== absenceType).flatMap(({ records }) => records)
}

test('two metrics of one name with another type, unit, kind or edges are refused, and the first goes on', async () => {
  const { context, metrics, lines } = rig()
  metrics.counter('x_total', { unit: 'bytes' }).bind().add(1)
  metrics.histogram('y', { edges: [1, 2] })
  for (const [declare, message] of [
    [() => metrics.total('x_total', { unit: 'bytes' }), /is a counter of kind u64 in bytes .* as a total/],
    [() => metrics.counter('x_total'), /u64 in bytes .* without unit/],
    [() => context({ labels: { a: 'b' } }).counter('x_total', { unit: 'bytes', kind: 'f64' }), /of kind f64/],
    [() => metrics.gauge('x_total', { unit: 'bytes' }), /as a gauge/],
    [() => metrics.histogram('y', { edges: [1, 3] }), /edges 1 2 .* edges 1 3/],
  ] as const)
    assert.throws(declare, sondeError('MTR_CONFLICT', message))
  assert.deepEqual(await lines(metrics), ['x_total 1'])
})

test('labels are refused when a series is bound: too few, too many, of another type', () => {
  const { metrics } = rig({ labels: { pool: 'a' } })
  const jobs = metrics.counter('jobs_total', { labels: ['queue', 'rank'] })
  const wrongs: readonly unknown[] = [
    undefined,
    null,
    'mail',
    ['mail', '1'],
    {},
    { queue: 'mail' },
    { queue: 'mail', rank: 1 },
    { queue: 'mail', rank: null },
    { queue: 'mail', rank: '1', pool: 'b' },
    { queue: 'mail', rank: '1', toString: 'x' },
  ]
  for (const labels of wrongs) {
    const bind = () => Reflect.apply(jobs.bind, jobs, [labels])
    assert.throws(bind, sondeError('MTR_LABELS', /allowed: an object with a text for each of its labels: queue, rank$/))
  }
  assert.equal(jobs.seriesCount, 0)
  assert.throws(() => Reflect.apply(metrics.gauge('level').bind, undefined, []), TypeError)
})

test('a label whose name is taken is refused, and leaves no metric behind', () => {
  const { metrics } = rig({ labels: { pool: 'a' } })
  const histogram = (label: string) => metrics.histogram('h', { edges: [1], labels: [label] })
  for (const label of ['h', 'time', 'pool', 'le', 'h_sum'])
    assert.throws(() => histogram(label), sondeError('MTR_LABELS', new RegExp(`a label "${label}"`)))
  assert.throws(() => metrics.counter('c_total', { labels: ['a', 'a'] }), sondeError('MTR_LABELS'))
  assert.throws(() => metrics.counter('c_total', { labels: ['a b'] }), sondeError('SCH_NAME'))
  assert.throws(() => metrics.counter('sonde_c_total'), sondeError('SCH_NAME'))
  assert.throws(() => metrics.counter('c.total'), sondeError('SCH_METRIC_NAME'))
  assert.throws(() => metrics.histogram('h', { edges: [2, 1] }), sondeError('SCH_FIELD'))
  metrics.gauge('h')
  metrics.gauge('c_total')
})

test('series beyond the limit are dropped, counted, and told; those that are there go on', async () => {
  const { source, metrics, lines } = rig({ seriesLimit: 2 })
  const jobs = metrics.counter('jobs_total', { labels: ['queue'] })
  for (const queue of ['a', 'b', 'c', 'd', 'c']) jobs.bind({ queue }).add()
  metrics
    .gauge('level', { labels: ['queue'], seriesLimit: 1 })
    .bind({ queue: 'a' })
    .set(1)
  assert.deepEqual([...metrics.stats.dropped], [['metric_series_limit', 3]])
  const shown = await lines(metrics)
  assert.deepEqual(shown, [
    'jobs_total{queue="a"} 1',
    'jobs_total{queue="b"} 1',
    'level{queue="a"} 1',
    'sonde_loss_records_total{component="s",reason="metric_series_limit"} 3',
  ])
  // What was dropped takes no room among the texts.
  assert.ok(!source.symbols.since(0).includes('c'))
  jobs.release({ queue: 'a' })
  jobs.bind({ queue: 'c' }).add(5)
  assert.deepEqual([...metrics.stats.dropped], [['metric_series_limit', 3]])
  const told = /^source s dropped 3 records \(3 metric_series_limit: a metric had as many series as its seriesLimit/
  await assert.rejects(metrics.flush(), sondeError('SRC_LOST', told))
  await metrics.flush()
})

test('a label that finds no room among the texts of the source is dropped and counted', () => {
  const losses: string[] = []
  const { source } = recordingSource({ symbolLimit: 4, onLoss: (reason) => losses.push(reason) })
  const metrics = createMetrics(source, { flushIntervalMs: 0 })
  const jobs = metrics.counter('jobs_total', { labels: ['queue'] })
  for (const queue of ['a', 'b', 'c']) jobs.bind({ queue }).add()
  assert.deepEqual([...metrics.stats.dropped], [['metric_no_room', 1]])
  assert.deepEqual(losses, ['metric_no_room'])
  assert.equal(jobs.seriesCount, 2)
})

test('a total that falls is passed on, and somebody is told once when it falls again and again', async () => {
  const { metrics, lines } = rig()
  const reads = metrics.total('reads_total').bind()
  reads.set(2n ** 60n)
  reads.set(1)
  assert.deepEqual(await lines(metrics), ['reads_total 1'])
  assert.equal(metrics.stats.restarts, 1)
  assert.throws(() => reads.set(-1), sondeError('SRC_VALUE'))
  const warned = once(process, 'warning')
  for (const total of [5, 4, 5, 4]) reads.set(total)
  const [warning] = await warned
  assert.match(warning.message, /metric reads_total: its total fell 3 times/)
  assert.equal(warning.code, 'MTR_FALLS')
  assert.equal(metrics.stats.restarts, 3)
})

test('everything is sampled at the interval, histograms included, and nothing any more after close', async () => {
  const { metrics, recorded } = recorder({ flushIntervalMs: 2 })
  const wait = metrics.histogram('wait', { edges: [1] }).bind()
  await until('a sample', () => recorded().length > 0)
  wait.observe(1)
  await until('the observation', () => recorded().some(({ wait_sum }) => wait_sum === 1))
  await metrics.close()
  recorded()
  wait.observe(1)
  const other = recorder({ flushIntervalMs: 2 })
  other.metrics.counter('jobs_total').bind()
  for (let sample = 0; sample < 3; sample++) await until('a sample of another', () => other.recorded().length > 0)
  await other.metrics.close()
  assert.deepEqual(recorded(), [])
})

test('one sample at the interval has all metrics with one time, however many turns of the loop it takes', async () => {
  const { source, emitted } = recordingSource()
  const metrics = createMetrics(source, { flushIntervalMs: 5 })
  const names = Array.from({ length: 20 }, (_, i) => `m${i}_total`)
  for (const name of names) {
    const metric = metrics.counter(name, { labels: ['n'] })
    for (let n = 0; n < 500; n++) metric.bind({ n: `${n}` })
  }
  await until('a second sample', () => emitted.length > names.length)
  await metrics.close()
  const first = emitted.slice(0, names.length)
  assert.deepEqual(
    first.map(({ type, count }) => [type.name, count]),
    names.map((name) => [name, 500]),
  )
  assert.equal(new Set(first.flatMap(({ records }) => records.map(({ time }) => time))).size, 1)
})

test('flush resolves once what it sampled is acknowledged', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { source, emitted } = recordingSource({ acknowledge: () => promise })
  const metrics = createMetrics(source, { flushIntervalMs: 0 })
  metrics.counter('jobs_total').bind().add(3)
  let isDone = false
  const flushed = metrics.flush(T0).then(() => {
    isDone = true
  })
  assert.deepEqual(emitted[0]?.records, [{ time: T0, jobs_total: 3n }])
  await new Promise(setImmediate)
  assert.equal(isDone, false)
  resolve()
  await flushed
})

test('a metric is not sampled again before its time; the newest value comes then, and close takes the last', async () => {
  let nowMs = 0
  const { metrics, recorded } = recorder({ minSampleIntervalUs: 1500, nowMs: () => nowMs })
  const slow = metrics.gauge('slow').bind()
  const fast = metrics.gauge('fast', { minSampleIntervalUs: 0 }).bind()
  const names = () => recorded().map(({ slow, fast }) => [slow, fast])
  for (const value of [1, 2, 3]) {
    slow.set(value)
    fast.set(value)
    metrics.sample(T0)
    nowMs += 1
  }
  assert.deepEqual(names(), [
    [1, undefined],
    [undefined, 1],
    [undefined, 2],
    [3, undefined],
    [undefined, 3],
  ])
  slow.set(4)
  await metrics.close()
  assert.deepEqual(names(), [
    [4, undefined],
    [undefined, 3],
  ])
})

test('what was counted since the last sample is reported when the source closes', async () => {
  const { source, metrics, recorded } = recorder()
  const jobs = metrics.counter('jobs_total')
  jobs.bind().add(3)
  await source.close()
  assert.deepEqual(
    recorded().map(({ jobs_total }) => jobs_total),
    [3n],
  )
  assert.throws(() => createMetrics(source), sondeError('SRC_CLOSED'))
  metrics.sample()
  await metrics.close()
  assert.deepEqual(recorded(), [])
})

test('a process that ends without closing anything reports the last values once', () => {
  const program = `
    import { createMetrics, createSchema, readRecords, sinkStats, viewsOf } from '@sonde/sdk'
    const accept = ({ type, bytes, count, symbols }) => {
      for (const record of readRecords(type, viewsOf(bytes), count, symbols)) console.log(String(record.jobs_total))
    }
    const schema = createSchema({ name: 'app', sinks: [{ name: 's', stats: sinkStats(), accept, flush: async () => {}, close: async () => {} }] })
    await schema.start()
    const metrics = createMetrics(schema.createSource({ tag: 't' }))
    metrics.counter('jobs_total').bind().add(3)`
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module']
  const options = { cwd: import.meta.dirname, encoding: 'utf8', timeout: 60_000 } as const
  assert.equal(execFileSync(process.execPath, [...flags, '--eval', program], options), '3\n')
})

test('rows that the application bound itself are not sampled along', async () => {
  const { source, metrics, recorded } = recorder()
  metrics.counter('jobs_total').bind()
  const other = recorder()
  source.bind(other.metrics.counter('own_total').type, {}).counter('own_total').add()
  metrics.sample(T0)
  assert.deepEqual(recorded(), [{ time: T0, jobs_total: 0n }])
})

test('a closed context gives no more series and metrics, and may be closed again', async () => {
  const { metrics } = recorder()
  const jobs = metrics.counter('jobs_total')
  await metrics.close()
  await metrics.close()
  await metrics.flush()
  assert.throws(() => jobs.bind(), sondeError('MTR_CLOSED'))
  assert.throws(() => metrics.gauge('level'), sondeError('MTR_CLOSED'))
})

test('series of a closed context leave the metrics at once, but for those that another context holds', async () => {
  const { context, source, lines } = rig()
  const [one, two] = [context(), context()]
  const jobs = one.counter('jobs_total', { labels: ['queue'] })
  jobs.bind({ queue: 'mail' }).add(1)
  jobs.bind({ queue: 'print' }).add(2)
  one.gauge('level').bind().set(3)
  two
    .counter('jobs_total', { labels: ['queue'] })
    .bind({ queue: 'mail' })
    .add(4)
  source.flush()
  assert.deepEqual(await lines(one, two), ['jobs_total{queue="mail"} 5', 'jobs_total{queue="print"} 2', 'level 3'])
  await one.close()
  assert.deepEqual(await lines(), ['jobs_total{queue="mail"} 5'])
  await two.close()
  assert.deepEqual(await lines(), [])
  const again = context()
  again
    .counter('jobs_total', { labels: ['queue'] })
    .bind({ queue: 'mail' })
    .add(1)
  assert.deepEqual(await lines(again), ['jobs_total{queue="mail"} 1'])
})

test('a clock before 2000 is an error to who samples, and counted where nobody asked', async (t) => {
  const { metrics, recorded } = recorder({ flushIntervalMs: 2 })
  metrics.counter('jobs_total').bind()
  assert.throws(() => metrics.sample(1n), sondeError('SRC_VALUE', /from 2000 on/))
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  const warned = once(process, 'warning')
  await until('an error', () => metrics.stats.errors > 0)
  const [warning] = (await warned) as [Error & { code: string }]
  assert.deepEqual([warning.code, /cannot be sampled: .*from 2000 on/.test(warning.message)], ['MTR_SAMPLE', true])
  recorded()
  await metrics.close()
  assert.deepEqual(recorded(), [])
})

property('records of a sample are those that a model of contexts and series expects', 60, (random) => {
  const { source, emitted } = recordingSource()
  const names = ['a_total', 'b_total']
  const contexts = Array.from({ length: 3 }, () => createMetrics(source, { flushIntervalMs: 0 }))
  /** Who holds a series, and its count. */
  const model = new Map<string, { readonly holders: Set<Metrics>; count: bigint }>()
  for (let step = 0; step < 120; step++) {
    const context = random.pick(contexts)
    const [name, queue] = [random.pick(names), `q${random.integer(0, 5)}`]
    const metric = context.counter(name, { labels: ['queue'] })
    const key = `${name} ${queue}`
    const series = model.get(key)
    if (random.chance(0.3)) {
      metric.release({ queue })
      if (series?.holders.delete(context) && series.holders.size === 0) model.delete(key)
      continue
    }
    const amount = random.integer(0, 2 ** 40)
    metric.bind({ queue }).add(amount)
    const { holders, count } = series ?? { holders: new Set(), count: 0n }
    model.set(key, { holders: holders.add(context), count: count + BigInt(amount) })
  }
  for (const context of contexts) context.sample(T0)
  const seen = new Map(
    emitted.flatMap(({ type, records }) =>
      records.map((record) => [`${type.name} ${record.queue}`, record[type.name]]),
    ),
  )
  const expected = [...model].map(([key, { count }]) => [key, count] as const)
  assert.deepEqual([...seen].sort(), expected.sort())
})

test('the number of metrics of a source is bounded', () => {
  const { metrics } = recorder()
  for (let i = 0; i < 250; i++) metrics.gauge(`level_${i}`)
  assert.throws(() => metrics.gauge('level_250'), sondeError('MTR_LIMIT', /250/))
  metrics.gauge('level_0')
})

test('options out of range are refused, each by name', () => {
  const { source, metrics } = recorder()
  assert.throws(() => createMetrics(undefined as never), sondeError('MTR_OPTION', /the source of metrics is undefined/))
  assert.throws(() => createMetrics(source, null as never), sondeError('MTR_OPTION', /the options/))
  const wrongs: readonly [string, unknown][] = [
    ['flushIntervalMs', -1],
    ['flushIntervalMs', 3_600_001],
    ['minSampleIntervalUs', Number.NaN],
    ['seriesLimit', 0],
    ['seriesLimit', '9'],
    ['labels', null],
    ['labels', { pool: 1 }],
    ['labels', { 'a b': 'x' }],
    ['flushIntervalMS', 5],
  ]
  for (const [option, given] of wrongs)
    assert.throws(
      () => createMetrics(source, { [option]: given } as MetricsOptions),
      sondeError('MTR_OPTION', new RegExp(option)),
    )
  assert.throws(() => metrics.gauge('level', { seriesLimit: 0 }), sondeError('MTR_OPTION'))
  for (const options of [{ labels: 'queue' }, { labels: [1] }, { help: 1 }, { unit: null }])
    assert.throws(() => metrics.gauge('level', options as object), sondeError('MTR_OPTION', /of level/))
  assert.throws(() => Reflect.apply(metrics.gauge, metrics, []), sondeError('MTR_OPTION', /the name/))
  assert.throws(() => metrics.gauge('level', { kind: 'u8' as 'u64' }), sondeError('MTR_OPTION', /kind of level/))
  assert.throws(() => Reflect.apply(metrics.histogram, metrics, ['h', {}]), sondeError('MTR_OPTION', /edges of h/))
})

test('a counter cannot be set nor a total added to, also where nobody compiles', () => {
  const { metrics } = rig()
  const exact = metrics.counter('a_total').bind()
  const call = (handle: object, method: string) => Reflect.apply(Reflect.get(handle, method), handle, [4])
  for (const handle of [exact, metrics.counter('b_total', { kind: 'f64' }).bind()]) {
    handle.add(1)
    assert.throws(() => call(handle, 'set'), sondeError('MTR_HANDLE', /declare it with metrics\.total to set it/))
  }
  const total = metrics.total('c_total').bind()
  assert.throws(() => call(total, 'add'), sondeError('MTR_HANDLE', /declare it with metrics\.counter to add to it/))
})

test('what is added may be a bigint where the counter is exact, and carries into the high half', async () => {
  const { metrics, lines } = rig()
  const exact = metrics.counter('a_total').bind()
  exact.add(2n ** 53n + 1n)
  exact.add(0xffffffffn)
  for (const wrong of [-1n, 2n ** 64n]) assert.throws(() => exact.add(wrong), sondeError('SRC_VALUE'))
  const level = metrics.counter('b_total', { kind: 'f64' }).bind()
  assert.throws(() => level.add(2n), sondeError('SRC_VALUE', /^b_total of \{\} was given 2n; allowed: a number/))
  level.add(0.5)
  level.add()
  assert.deepEqual(await lines(metrics), [`a_total ${2n ** 53n + 2n ** 32n}`, 'b_total 1.5'])
})

test('an option of a metric that there is not is refused, with the one that was perhaps meant', () => {
  const { metrics } = rig()
  const declare = (what: 'counter' | 'total' | 'gauge' | 'histogram', ...given: unknown[]) =>
    Reflect.apply(metrics[what], metrics, ['x', ...given])
  for (const what of ['counter', 'total', 'gauge'] as const) {
    const message = /^metric x: "hepl" is no option \(did you mean help\?\); allowed: help, unit/
    assert.throws(() => declare(what, { hepl: 'x' }), sondeError('MTR_OPTION', message))
    assert.throws(() => declare(what, { edges: [1] }), sondeError('MTR_OPTION', /"edges" is no option/))
    assert.throws(() => declare(what, null), sondeError('MTR_OPTION', /the options of x of metrics is null/))
  }
  assert.throws(() => declare('histogram'), sondeError('MTR_OPTION', /edges of x of metrics is undefined/))
  assert.throws(() => declare('histogram', { edge: [1] }), sondeError('MTR_OPTION', /did you mean edges\?/))
})
