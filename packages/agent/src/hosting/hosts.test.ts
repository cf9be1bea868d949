import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { type Batch, type RecordOf, readRecords, viewsOf, wallNs } from '@sonde/sdk'
import { absenceType, markType, ownerOf, periodType } from '@sonde/sdk/internal'
import pino from 'pino'
import { until } from '../../../sdk/test/helper.ts'
import { SOURCES, unrulyType } from '../../test/unruly-source.ts'
import type { ConfiguredSource } from '../sources/source.ts'
import type { HostEdge } from './edge-gate.ts'
import { Hosts } from './hosts.ts'
import type { RunningSource } from './running-source.ts'

/** Long enough for a slow machine; only a call that hangs for good meets a short limit. */
const CALL_LIMIT_MS = 60_000
const HANG_LIMIT_MS = 400
/** The same source in each place where a source can run. */
const EVERYWHERE = ['unruly_agent', 'unruly_worker', 'unruly'] as const
const ELSEWHERE = ['unruly_worker', 'unruly'] as const
const started: Hosts[] = []

afterEach(async () => {
  await Promise.all(started.splice(0).map((hosts) => hosts.stop(100)))
})

function startUnruly(type: string, options: object, callLimitMs = CALL_LIMIT_MS, intervalMs = 30) {
  const definition = SOURCES.find(({ name }) => name === type)
  assert.ok(definition)
  const config: ConfiguredSource = { name: type, definition, intervalMs, options: { at: 3, devices: 1, ...options } }
  const rows: { device: string; samples: number; site: string | undefined }[] = []
  const gone: string[] = []
  const owners = new Set<object>()
  const periods: number[] = []
  const marks: RecordOf<typeof markType>[] = []
  const edges: HostEdge[] = []
  /** Rows, marks and edges, in the order in which they came. */
  const arrivals: string[] = []
  const accept = ({ type, count, bytes, symbols, source }: Batch) => {
    if (type === unrulyType) owners.add(ownerOf(source))
    if (type === unrulyType && count < 1000) {
      for (const { device, samples_total } of readRecords(unrulyType, viewsOf(bytes), count, symbols))
        arrivals.push(`${device} ${rows.push({ device, samples: Number(samples_total), site: source.labels.site })}`)
    }
    if (type === markType) {
      for (const mark of readRecords(markType, viewsOf(bytes), count, symbols))
        arrivals.push(`mark ${mark.edge} ${marks.push(mark)}`)
    }
    if (type === periodType) {
      for (const { report_us } of readRecords(periodType, viewsOf(bytes), count, symbols))
        periods.push(Number(report_us))
    }
    if (type === absenceType) {
      for (const row of readRecords(absenceType, viewsOf(bytes), count, symbols)) gone.push(`${row.type} ${row.code}`)
    }
  }
  const limits = { source_call_ms: callLimitMs, source_flood_bytes: 1 << 20 }
  const hosts = new Hosts([config], {
    config: { paths: { procfs: '/proc', sysfs: '/sys' }, limits },
    sourcesModule: new URL('../../test/unruly-source.ts', import.meta.url).href,
    accept,
    onEdge: (_source, edge) => arrivals.push(`edge ${edge.isStart} ${edges.push(edge)}`),
    log: pino({ level: 'silent' }),
  })
  started.push(hosts)
  hosts.start(0)
  return { hosts, periods, running: hosts.sources[0] as RunningSource, rows, gone, owners, marks, edges, arrivals }
}

for (const type of EVERYWHERE) {
  test(`${type}: records arrive, in order, with the labels of their source`, async () => {
    const { running, rows } = startUnruly(type, { misdeed: 'none' })
    await until('five rows', () => rows.length >= 5)
    await until('reading', () => running.state === 'reading')
    assert.deepEqual(
      rows.slice(0, 3),
      [1, 2, 3].map((samples) => ({ device: 'dev0', samples, site: 'lab' })),
    )
    assert.equal(running.found, 'one device that cannot be trusted')
  })

  test(`${type}: a sample that throws is counted and the next goes on in the same process`, async () => {
    const { running, rows } = startUnruly(type, { misdeed: 'throw' })
    await until('a sample after the failed one', () => rows.some(({ samples }) => samples === 5))
    await until('it is counted', () => running.stats.errors >= 1)
    assert.equal(running.stats.restarts, 0)
    assert.ok(
      rows.some(({ samples }) => samples === 3),
      'what it reported before it failed holds',
    )
  })

  test(`${type}: records beyond the budget of an interval are dropped and counted, and the source goes on`, async () => {
    const { running, rows, marks } = startUnruly(type, { misdeed: 'flood' })
    await until('a sample after the flood', () => rows.some(({ samples }) => samples >= 6))
    await until('the drops', () => (running.stats.dropped.get('flood') ?? 0) > 200_000)
    const edges = marks.map(({ edge }) => edge)
    assert.deepEqual(edges, ['opened', 'ended'], 'the flood keeps no mark back')
  })

  test(`${type}: more names than a table of labels holds replace the table, and the source goes on`, async () => {
    const { running, rows } = startUnruly(type, { misdeed: 'names' })
    await until('a sample after the names', () => rows.some(({ samples }) => samples >= 6))
    assert.equal(running.stats.dropped.get('symbol_limit'), undefined)
    assert.deepEqual(
      [...new Set(rows.map(({ device }) => device))].filter((name) => !/^(dev0|name\d+)$/.test(name)),
      [],
    )
  })

  test(`${type}: a call that does not come back is stuck after its limit, and told with its device`, async () => {
    const { running, rows } = startUnruly(type, { misdeed: 'wait' }, HANG_LIMIT_MS)
    await until('stuck', () => running.state === 'stuck')
    assert.match(running.reason, /took more than 400 ms/)
    assert.ok(rows.some(({ samples }) => samples === 3))
    const [call] = running.stuck
    assert.deepEqual([call?.device, call?.duty, call?.limitMs], ['', 'sample', HANG_LIMIT_MS])
    assert.match(call?.fix ?? '', /raise limits\.source_call_ms$/)
    if (type !== 'unruly_agent') await until('replaced', () => running.stats.restarts >= 1)
  })

  test(`${type}: an edge comes as a mark and typed, between the records before and after it`, async () => {
    const { rows, marks, edges, arrivals } = startUnruly(type, { misdeed: 'edge' })
    await until('a sample after the edges', () => rows.some(({ samples }) => samples === 4))
    const atEdge = arrivals.indexOf('mark opened 1')
    assert.deepEqual(arrivals.slice(atEdge - 1, atEdge + 6), [
      'dev0 3',
      ...['mark opened 1', 'edge true 1', 'hot 4', 'mark ended 2', 'edge false 2'],
      'dev0 5',
    ])
    const [start, end] = marks
    assert.deepEqual([start?.rule, start?.device, start?.edge], ['too_hot', 'dev0', 'opened'])
    assert.match(start?.summary ?? '', /known to 7 ns$/)
    assert.equal(start?.event, end?.event)
    assert.deepEqual(
      edges.map(({ rule, device, errorNs, isStart, event }) => [rule, device, errorNs, isStart, BigInt(event)]),
      [true, false].map((isStart) => ['too_hot', 'dev0', 7n, isStart, BigInt(start?.event ?? 0)]),
    )
    // Both clocks are of this machine: the mark has the wall time of the edge.
    const offNs = BigInt(start?.time ?? 0) - (edges[0]?.monoNs ?? 0n) - (wallNs() - process.hrtime.bigint())
    assert.ok(offNs < 1_000_000_000n && offNs > -1_000_000_000n, `${offNs} ns`)
  })

  test(`${type}: edges beyond the limit of a minute are dropped and counted, and what started ends`, async () => {
    const { running, rows, marks, edges } = startUnruly(type, { misdeed: 'edges' })
    await until('a sample after the edges', () => rows.some(({ samples, device }) => device === 'dev0' && samples > 3))
    await until('the drops', () => running.stats.dropped.get('edge_limit') === 440)
    assert.deepEqual([marks.length, edges.length, new Set(edges.map(({ event }) => event)).size], [120, 120, 60])
    assert.equal(rows.filter(({ device }) => device === 'hot').length, 500)
  })

  test(`${type}: a command is answered, and so is one that the source does not know`, async () => {
    const { running, rows } = startUnruly(type, { misdeed: 'none' })
    await until('a row', () => rows.length > 0)
    const { asked, samples } = (await running.command({ play: [1] })) as { asked: object; samples: number }
    assert.deepEqual(asked, { play: [1] })
    assert.ok(samples >= 1)
  })

  test(`${type}: a command changes the period of a duty, and is refused for a duty that there is not`, async () => {
    const { running, rows, periods } = startUnruly(type, { misdeed: 'none' }, CALL_LIMIT_MS, 3_600_000)
    await until('the only row of this hour', () => rows.length === 1)
    await running.setPeriod({ device: '', duty: 'sample', everyUs: 1000 })
    await until('many samples', () => running.stats.samples >= 40)
    await until('it is told', () => periods.includes(1000))
    await assert.rejects(running.setPeriod({ device: 'dev9', duty: 'sample', everyUs: 1000 }), {
      code: 'AGT_COMMAND',
      message: /no duty sample of "dev9"; there are: sample/,
    })
    await assert.rejects(running.setPeriod({ device: '', duty: 'sample', everyUs: 10 }), {
      code: 'AGT_COMMAND',
      message: /allowed: 1000 to 3600000000 microseconds/,
    })
  })
}

for (const type of ELSEWHERE) {
  test(`${type}: a host whose loop is blocked is stuck, and another takes its place and its series`, async () => {
    const { running, rows, gone, owners } = startUnruly(type, { misdeed: 'hang' }, HANG_LIMIT_MS)
    await until('stuck', () => running.state === 'stuck')
    assert.match(running.reason, /has not answered for 400 ms; it is replaced/)
    assert.deepEqual(gone, [])
    await until('rows of the next', () => rows.at(-1)?.samples === 1)
    assert.ok(running.stats.restarts >= 1)
    assert.equal(owners.size, 1)
  })

  test(`${type}: a host that crashes again and again is replaced each time, and its series leave meanwhile`, async () => {
    const { running, rows, gone, owners } = startUnruly(type, { misdeed: 'crash' })
    await until('gone', () => gone.includes('unruly gone'))
    assert.equal(running.stats.restarts, 2)
    const before = rows.length
    await until('rows of the next', () => rows.length > before)
    assert.equal(owners.size, 1)
  })

  test(`${type}: a period that a command set holds in the host that replaces the one before`, async () => {
    const { running, rows, periods } = startUnruly(type, { misdeed: 'crash', at: 20 }, CALL_LIMIT_MS, 3_600_000)
    await until('the only row of this hour', () => rows.length === 1)
    await running.setPeriod({ device: '', duty: 'sample', everyUs: 1000 })
    // Another crash needs twenty samples of another life: with the interval of an hour that takes a day.
    await until('another crash', () => running.stats.restarts >= 2)
    assert.deepEqual([...new Set(periods)], [3_600_000_000, 1000])
    assert.equal(periods.at(-1), 1000)
  })

  test(`${type}: stopping ends at its limit while a call hangs`, { timeout: 60_000 }, async () => {
    const { hosts, rows } = startUnruly(type, { misdeed: 'hang', at: 2 }, HANG_LIMIT_MS)
    await until('the sample before the hang', () => rows.length >= 1)
    await hosts.stop(200)
  })
}

for (const type of ELSEWHERE) {
  test(`${type}: asked when its host was stopped, it refuses at once`, async () => {
    const { hosts, running, rows } = startUnruly(type, { misdeed: 'none' })
    await until('a row', () => rows.length >= 1)
    await hosts.stop(1000)
    await assert.rejects(running.taps(), { code: 'AGT_CHILD_EXIT' })
  })
}
