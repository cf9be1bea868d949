import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Batch, type RecordOf, type RecordType, readRecords, viewsOf } from '@sonde/sdk'
import { clockType, markType } from '@sonde/sdk/internal'
import pino from 'pino'
import { until } from '../../../sdk/test/helper.ts'
import { meterPollType, meterSampleType, SOURCES } from '../../test/meter-source.ts'
import type { SignalRule } from '../rules/rule.ts'
import type { WatchedSignal } from '../rules/watch.ts'
import type { HostEdge } from './edge-gate.ts'
import { Hosts } from './hosts.ts'
import type { RunningSource } from './running-source.ts'

const LIMITS = { source_call_ms: 60_000, source_flood_bytes: 1 << 20 }
const CLOCK = process.hrtime.bigint

function rowsOf<T extends RecordType>(type: T, batches: readonly Batch[]): RecordOf<T>[] {
  return batches
    .filter((batch) => batch.type === type)
    .flatMap(({ bytes, count, symbols }) => [...readRecords(type, viewsOf(bytes), count, symbols)])
}

/** Both sources in the child of their library, and what they report. */
function start(t: TestContext, startsAMinute = 10_000) {
  const batches: Batch[] = []
  const edges: HostEdge[] = []
  const lines: string[] = []
  const hosts = new Hosts(
    SOURCES.map((definition) => ({ name: definition.name, definition, intervalMs: 50, options: {} })),
    {
      config: { paths: { procfs: '/proc', sysfs: '/sys' }, limits: LIMITS },
      accept: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }),
      startsAMinute,
      onEdge: (_source, edge) => edges.push(edge),
      log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
    },
  )
  t.after(() => hosts.stop(50))
  hosts.start(0)
  const [samples, polls] = hosts.sources as [RunningSource, RunningSource]
  return { hosts, samples, polls, batches, edges, lines }
}

/** The samples of `m0` in a stretch of time, piece by piece. */
async function windowOf(
  samples: RunningSource,
  {
    fromNs,
    toNs,
    bytesMax = 64 << 20,
    take,
  }: { fromNs: bigint; toNs: bigint; bytesMax?: number; take?: () => unknown },
) {
  const pieces: Batch[] = []
  const [fromMonoNs, toMonoNs] = [fromNs, toNs].map(String) as [string, string]
  const end = await samples.window(
    { type: 'meter_sample', device: 'm0', fromMonoNs, toMonoNs, bytesMax },
    async (piece) => {
      pieces.push(piece)
      await take?.()
    },
  )
  return { pieces, end, rows: rowsOf(meterSampleType, pieces) }
}

test('two sources share one child and one library; a device that hangs costs the others nothing', async (t) => {
  const { hosts, samples, polls, batches, lines } = start(t)
  await until('m2 is stuck', () => polls.stuck.some(({ device }) => device === 'm2'))
  const isTold = (line: string) => line.includes('a call is stuck') && line.includes('"m2"')
  assert.equal(lines.filter(isTold).length, 1)
  const polled = () => rowsOf(meterPollType, batches)
  const before = polled().length
  await until('m1 goes on', () => polled().length >= before + 20)
  assert.deepEqual([samples.state, polls.state, polls.stats.restarts], ['reading', 'reading', 0])
  assert.deepEqual(
    polled().map(({ device, polls_total }) => [device, Number(polls_total)]),
    polled().map((_, index) => ['m1', index + 1]),
  )
  assert.ok(polled().every(({ openings_total }) => Number(openings_total) === 1))
  assert.equal(hosts.children().length, 1)
  const pid = Number(hosts.children()[0]?.pid)
  // Samples cross only on request.
  assert.deepEqual(rowsOf(meterSampleType, batches), [])
  await hosts.stop(2000)
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  assert.ok(
    lines.some((line) => line.includes('meter_polls m2 poll')),
    'the log names the call that was killed',
  )
})

test('a window of what is sampled at 10 kHz is complete, in order, and timed within its error', async (t) => {
  const { samples, batches } = start(t)
  await until('reading', () => samples.state === 'reading')
  const fromNs = CLOCK()
  const toNs = fromNs + 1_000_000_000n
  await until('a second', () => CLOCK() > toNs)
  let taken = await windowOf(samples, { fromNs, toNs })
  await until('the end of it is drained', async () => {
    taken = await windowOf(samples, { fromNs, toNs })
    return taken.rows.length >= 9_999
  })
  const { rows, end, pieces } = taken
  assert.equal(end.records, rows.length)
  assert.equal(end.leftOut, 0)
  assert.ok(rows.length >= 9_999 && rows.length <= 10_002, String(rows.length))
  const [first] = rows
  assert.ok(first !== undefined)
  for (const [index, { sequence, time, mono_ns, true_ns, error_ns, device }] of rows.entries()) {
    assert.equal(device, 'm0')
    assert.equal(sequence, BigInt(first.sequence) + BigInt(index))
    const offNs = BigInt(mono_ns) - BigInt(true_ns)
    assert.ok((offNs < 0n ? -offNs : offNs) <= BigInt(error_ns), `${sequence}: ${offNs} of ${error_ns} ns`)
    // The wall clock was stamped once, for all of the window.
    assert.equal(BigInt(time) - BigInt(mono_ns), BigInt(first.time) - BigInt(first.mono_ns))
  }
  assert.ok(Math.abs(Number(BigInt(first.time) / 1_000_000n) - Date.now()) < 60_000, 'its times are of the wall clock')
  assert.ok(
    pieces.every(({ bytes, clock, origin }) => bytes.length <= 256 << 10 && clock === 'wall' && origin === 'own'),
  )
  const [clock] = rowsOf(clockType, batches)
  assert.deepEqual([clock?.device, clock?.clock, clock?.ticks_per_second], ['m0', 'free', 62_500_000])
})

test('a window waits for whoever takes it, while the others go on; one that is refused says why', async (t) => {
  const { samples, polls } = start(t)
  // More than the initial credit.
  await until('four seconds of samples', () => samples.stats.intervalRealMs * samples.stats.samples > 4000)
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const taken = windowOf(samples, { fromNs: 0n, toNs: CLOCK(), take: () => gate })
  const before = polls.stats.samples
  await until('polls go on', () => polls.stats.samples > before + 5)
  open()
  const { rows } = await taken
  assert.deepEqual(
    rows.map(({ sequence }) => sequence),
    rows.map((_, index) => BigInt(index) + BigInt(rows[0]?.sequence ?? 0)),
  )
  const few = await windowOf(samples, { fromNs: 0n, toNs: CLOCK(), bytesMax: 4800 })
  assert.ok(few.rows.length > 0 && few.end.leftOut > 0)
  const refused = samples.window(
    { type: 'meter_sample', device: 'm9', fromMonoNs: '0', toMonoNs: '1', bytesMax: 1 },
    () => undefined,
  )
  await assert.rejects(refused, { code: 'AGT_TAP', message: /keeps no samples of meter_sample for "m9"/ })
})

const SEQUENCE: WatchedSignal = {
  ...{ name: 'number', type: 'meter_sample', field: 'sequence', labels: {}, isCounter: true },
}

/** A rule that fires with every so many samples of the 10 kHz. */
function every(samples: number, name = `every "${samples}", of 10 kHz`): SignalRule {
  return { name, signal: 0, test: { kind: 'inc_gt', value: BigInt(samples) } }
}

test('rules watch a ring in the child, and edges come with the times of their samples', async (t) => {
  const { samples, edges, batches } = start(t)
  const rule = every(3000)
  // Before the child runs, and in a life after: the rules are kept for it.
  await samples.watch({ signals: [SEQUENCE], rules: [rule] })
  await until('events', () => edges.length >= 6)
  const starts = edges.filter(({ isStart }) => isStart).slice(0, 3)
  const fromNs = (starts[0]?.monoNs ?? 0n) - 1_000n
  const { rows } = await windowOf(samples, { fromNs, toNs: CLOCK() })
  const numbers = starts.map(({ monoNs }) => rows.find(({ mono_ns }) => BigInt(mono_ns) === monoNs)?.sequence)
  const first = BigInt(numbers[0] ?? -1n)
  assert.deepEqual(numbers.map(BigInt as never), [first, first + 3000n, first + 6000n])
  assert.deepEqual(
    edges.slice(0, 4).map(({ isStart, device }) => [isStart, device]),
    [true, false, true, false].map((isStart) => [isStart, 'm0']),
  )
  const marks = rowsOf(markType, batches)
  assert.deepEqual([marks[0]?.rule, marks[0]?.edge, marks[1]?.edge], [rule.name, 'opened', 'ended'])
  assert.ok(
    starts.every(({ errorNs }) => errorNs > 0n && errorNs < 1_000_000_000n),
    'the error of the clock is told',
  )
})

test('other rules take the place of those before, whose events end; one that looks too far back is refused', async (t) => {
  const { samples, edges } = start(t, 5)
  await until('reading', () => samples.state === 'reading')
  const always: SignalRule = { name: 'always', signal: 0, test: { kind: 'gt', value: 0n, onSamples: 1, offSamples: 1 } }
  await samples.watch({ signals: [SEQUENCE], rules: [always] })
  await until('it begins', () => edges.some(({ rule }) => rule === 'always'))
  const far: SignalRule = { name: 'far', signal: 0, test: { kind: 'dt_gt', value: 1, overSamples: 1e6, offSamples: 1 } }
  const refused = samples.watch({ signals: [SEQUENCE], rules: [far] })
  await assert.rejects(refused, { code: 'AGT_TAP', message: /1000000 samples back in a ring of 200000/ })
  assert.equal(edges.length, 1)
  await samples.watch({ signals: [SEQUENCE], rules: [every(100, 'busy')] })
  await until('the drops', () => (samples.stats.dropped.get('edge_limit') ?? 0) > 10)
  assert.deepEqual([edges[1]?.rule, edges[1]?.isStart], ['always', false])
  assert.equal(edges.filter(({ rule, isStart }) => rule === 'busy' && isStart).length <= 10, true)
})

test('a host that is replaced goes on watching', async (t) => {
  const { hosts, samples, edges } = start(t)
  await until('reading', () => samples.state === 'reading')
  await samples.watch({ signals: [SEQUENCE], rules: [every(500)] })
  await until('events', () => edges.length >= 2)
  process.kill(Number(hosts.children()[0]?.pid), 'SIGKILL')
  await until('replaced', () => samples.stats.restarts === 1)
  const before = edges.length
  await until('events in the next life', () => edges.length >= before + 4)
})
