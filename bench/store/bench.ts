import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStore, type Store } from '@sonde/console'
import type { QueryFunction, QueryRequest } from '@sonde/sdk/internal'
import { Random } from '../../packages/sdk/test/random.ts'
import { atLeast, atMost, type Figure, median, type RunBench } from '../bench.ts'
import { COUNTER_METRICS, FIELDS, GAUGE_METRICS, GPUS, INTERVAL_MS, type Load, makeLoad, uuidOf } from './load.ts'
import { Rival } from './rival.ts'

const HOUR_MS = 3_600_000
const SAMPLES_AN_HOUR = HOUR_MS / INTERVAL_MS
const HOURS = 24
/** Times each question is asked. */
const ASKED_COUNT = 40
/** Questions before that, which do not count. They warm up the compiler of the store's thread. */
const WARM_COUNT = 5
/** Times the question of a day is asked on both sides. */
const DAY_COUNT = 20
/** Hours of the load that each interleaved round writes on both sides. */
const ROUND_HOURS = 2
/** Times as fast, or as small, as SQLite with a row a sample. */
const GATES = { write: 5, size: 3, query: 1.5, day: 5 }

/** Questions of the page, by their content. */
const SHAPES: readonly Shape[] = [
  { name: 'one GPU, 9 charts, 15 min', windowMs: 0.25 * HOUR_MS, metrics: 9, gpus: 'one' },
  { name: 'one GPU, 9 charts, 1 h', windowMs: HOUR_MS, metrics: 9, gpus: 'one' },
  { name: 'one GPU, 9 charts, 24 h', windowMs: 24 * HOUR_MS, metrics: 9, gpus: 'one' },
  { name: '8 GPUs of a node by label, 1 h', windowMs: HOUR_MS, metrics: 1, gpus: 'node' },
  { name: '8 GPUs of a node by label, 24 h', windowMs: 24 * HOUR_MS, metrics: 1, gpus: 'node' },
  { name: '64 GPUs, 15 min', windowMs: 0.25 * HOUR_MS, metrics: 1, gpus: 'all' },
  { name: '64 GPUs, 1 h', windowMs: HOUR_MS, metrics: 1, gpus: 'all' },
  { name: '64 GPUs, 24 h', windowMs: 24 * HOUR_MS, metrics: 1, gpus: 'all' },
  { name: '64 GPUs joined by node, 24 h', windowMs: 24 * HOUR_MS, metrics: 1, gpus: 'all', by: ['node'] },
  { name: '64 GPUs summed, 24 h', windowMs: 24 * HOUR_MS, metrics: 1, gpus: 'all', by: [] },
  { name: '64 GPUs, 24 h in steps of 5 min', windowMs: 24 * HOUR_MS, metrics: 1, gpus: 'all', stepMs: 300_000 },
]

interface Shape {
  readonly name: string
  readonly windowMs: number
  /** Metrics in one request. */
  readonly metrics: number
  readonly gpus: 'one' | 'node' | 'all'
  readonly by?: readonly string[]
  /** Default: as the page takes it, at most 1 440 points. */
  readonly stepMs?: number
}

export const run: RunBench = async ({ rounds }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
  try {
    const whole = await wholeDay(folder)
    const paired = await pairedRounds(folder, rounds)
    return {
      figures: [...paired.figures, ...whole.figures],
      lines: [...whole.lines, ...paired.lines],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The whole load, hour by hour, then the questions. */
async function wholeDay(folder: string): Promise<{ figures: Figure[]; lines: string[] }> {
  const path = join(folder, 'whole.db')
  const toMs = Math.floor(Date.now() / INTERVAL_MS) * INTERVAL_MS
  const fromMs = toMs - HOURS * HOUR_MS
  const load = makeLoad(1, fromMs, HOURS * SAMPLES_AN_HOUR)
  const store = await createStore({ path, maxBytes: 2 ** 40, queueLimitBytes: 256 << 20 })
  const startCpu = process.cpuUsage()
  let writeMs = 0
  let acceptMs = 0
  for (let hour = 0; hour < HOURS; hour++) {
    const startMs = performance.now()
    if (hour === 0) for (const batch of load.said) store.accept(batch)
    for (const batch of load.batches.slice(hour * SAMPLES_AN_HOUR, (hour + 1) * SAMPLES_AN_HOUR)) store.accept(batch)
    acceptMs += performance.now() - startMs
    await store.flush()
    await store.maintain()
    writeMs += performance.now() - startMs
  }
  // Days that are over are rolled up when nothing more of them comes.
  const startMs = performance.now()
  await store.maintain()
  writeMs += performance.now() - startMs
  const { user, system } = process.cpuUsage(startCpu)
  const asked = await askAll(store, toMs)
  const dayRatio = await compareDay(store, join(folder, 'rival.db'), load, toMs)
  await store.close()
  const bytes = bytesOf(path)
  const worst = asked.reduce((a, b) => (a.p95Ms >= b.p95Ms ? a : b))
  const perSecond = load.values / writeMs / 1000
  const perValue = bytes / load.values
  return {
    figures: [
      { name: 'values written, compacted and rolled up', value: perSecond, unit: 'M/s' },
      { name: 'the same by processor time of all threads', value: load.values / (user + system), unit: 'M/s' },
      { name: 'accept alone, on the main thread', value: load.values / acceptMs / 1000, unit: 'M/s' },
      { name: 'on disk', value: perValue, unit: 'bytes a value', gate: atMost(perValue, 5) },
      { name: 'slowest page query, p95', value: worst.p95Ms, unit: 'ms' },
      {
        name: '64 GPUs over 24 h asked faster than SQLite with a row a sample',
        value: dayRatio,
        unit: 'x',
        gate: atLeast(dayRatio, GATES.day),
      },
    ],
    lines: [
      `${GPUS} GPUs × ${FIELDS} fields × ${HOURS} h at ${INTERVAL_MS / 1000} s: ${(load.values / 1e6).toFixed(2)} M values, file ${(bytes / 2 ** 20).toFixed(1)} MiB.`,
      `Questions, each asked ${ASKED_COUNT} times of other GPUs and metrics:`,
      ...asked.map(({ name, p50Ms, p95Ms }) => `* ${name}: median ${p50Ms.toFixed(1)} ms, p95 ${p95Ms.toFixed(1)} ms`),
    ],
  }
}

/** Both sides answer the same question over the whole day, in turn: how many times faster ours is. */
async function compareDay(store: Store, path: string, load: Load, toMs: number): Promise<number> {
  const rival = new Rival(path)
  rival.write(load)
  const question = requestOf({ name: '', windowMs: HOURS * HOUR_MS, metrics: 1, gpus: 'all' }, toMs, new Random(3))
  const [asked] = question.queries
  const { fromMs, stepMs } = question
  const ratios: number[] = []
  for (let turn = -WARM_COUNT; turn < DAY_COUNT; turn++) {
    const startMs = performance.now()
    await store.query(question)
    const ourMs = performance.now() - startMs
    rival.query(asked?.metric ?? '', asked?.function ?? 'last', fromMs, toMs, stepMs)
    if (turn >= 0) ratios.push((performance.now() - startMs - ourMs) / ourMs)
  }
  rival.close()
  return median(ratios)
}

async function askAll(store: Store, toMs: number): Promise<{ name: string; p50Ms: number; p95Ms: number }[]> {
  const random = new Random(7)
  // In turn, so that a slow moment of the machine does not hit one question alone.
  const times = SHAPES.map((): number[] => [])
  for (let turn = -WARM_COUNT; turn < ASKED_COUNT; turn++) {
    for (const [i, shape] of SHAPES.entries()) {
      const request = requestOf(shape, toMs, random)
      const startMs = performance.now()
      const { results } = await store.query(request)
      if (turn >= 0) times[i]?.push(performance.now() - startMs)
      if (results.some(({ series }) => series.length === 0)) throw new Error(`${shape.name} found nothing`)
    }
  }
  return SHAPES.map(({ name }, i) => {
    const sorted = (times[i] ?? []).toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
    return { name, p50Ms: at(0.5), p95Ms: at(0.95) }
  })
}

function requestOf({ windowMs, metrics, gpus, by, stepMs }: Shape, toMs: number, random: Random): QueryRequest {
  const matchers =
    gpus === 'all'
      ? []
      : gpus === 'one'
        ? [{ label: 'gpu', op: '=', value: uuidOf(random.integer(0, GPUS - 1)) } as const]
        : [{ label: 'node', op: '=', value: `node${random.integer(0, 7)}` } as const]
  const queries = Array.from({ length: metrics }, () => {
    const isCounter = random.chance(0.4)
    const metric = random.pick(isCounter ? COUNTER_METRICS : GAUGE_METRICS)
    const fn: QueryFunction = isCounter ? 'rate' : random.pick(['last', 'avg', 'max'])
    return { metric, function: fn, matchers, by, aggregate: 'sum' } as const
  })
  return { fromMs: toMs - windowMs, toMs, stepMs: stepMs ?? stepFor(windowMs), queries }
}

function stepFor(windowMs: number): number {
  return windowMs <= 0.25 * HOUR_MS ? 1000 : windowMs <= HOUR_MS ? 5000 : 60_000
}

interface Round {
  readonly write: number
  readonly query: number
  /** Of our first question, which a thread answers that was just started. */
  readonly firstMs: number
  readonly size: number
}

/** Both sides write the same hours, in turn, and answer the same question over them. */
async function pairedRounds(folder: string, rounds: number): Promise<{ figures: Figure[]; lines: string[] }> {
  const toMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const load = makeLoad(2, toMs - ROUND_HOURS * HOUR_MS, ROUND_HOURS * SAMPLES_AN_HOUR)
  const ratios: Round[] = []
  for (let round = -1; round < rounds; round++) {
    const name = (side: string) => join(folder, `${side}-${round}.db`)
    const ours = await ourTurn(name('ours'), load, toMs)
    const theirs = await rivalTurn(name('rival'), load, toMs)
    if (round < 0) continue
    ratios.push({
      write: theirs.writeMs / ours.writeMs,
      query: theirs.queryMs / ours.queryMs,
      firstMs: ours.firstMs,
      size: theirs.bytes / ours.bytes,
    })
  }
  const of = (key: keyof Round) => median(ratios.map((ratio) => ratio[key]))
  const spread = ratios.map(({ write }) => write)
  return {
    figures: [
      {
        name: 'written faster than SQLite with a row a sample',
        value: of('write'),
        unit: 'x',
        gate: atLeast(of('write'), GATES.write),
      },
      {
        name: 'smaller than SQLite with a row a sample',
        value: of('size'),
        unit: 'x',
        gate: atLeast(of('size'), GATES.size),
      },
      {
        name: '64 GPUs asked faster than SQLite with a row a sample',
        value: of('query'),
        unit: 'x',
        gate: atLeast(of('query'), GATES.query),
      },
      { name: 'first question of 64 GPUs to a store just opened', value: of('firstMs'), unit: 'ms' },
    ],
    lines: [
      `Ratios: ${ROUND_HOURS} h of the load on both sides in turn, ${rounds} rounds; writing ${Math.min(...spread).toFixed(1)} to ${Math.max(...spread).toFixed(1)} x.`,
    ],
  }
}

interface Turn {
  readonly writeMs: number
  readonly firstMs: number
  readonly queryMs: number
  readonly bytes: number
}

async function ourTurn(path: string, load: Load, toMs: number): Promise<Turn> {
  const store = await createStore({ path })
  const startMs = performance.now()
  for (const batch of [...load.said, ...load.batches]) store.accept(batch)
  await store.flush()
  await store.maintain()
  const writeMs = performance.now() - startMs
  const question = requestOf(
    { name: '', windowMs: HOUR_MS, metrics: 1, gpus: 'all', stepMs: 15_000 },
    toMs,
    new Random(3),
  )
  const { firstMs, typicalMs } = await timesOf(() => store.query(question))
  await store.close()
  return { writeMs, firstMs, queryMs: typicalMs, bytes: bytesOf(path) }
}

/** The file of a store, and those of its head. */
function bytesOf(path: string): number {
  const files = readdirSync(`${path}-head`)
  return files.reduce((sum, name) => sum + statSync(join(`${path}-head`, name)).size, statSync(path).size)
}

async function rivalTurn(path: string, load: Load, toMs: number): Promise<Turn> {
  const rival = new Rival(path)
  const startMs = performance.now()
  rival.write(load)
  const writeMs = performance.now() - startMs
  const { queries, fromMs, stepMs } = requestOf(
    { name: '', windowMs: HOUR_MS, metrics: 1, gpus: 'all', stepMs: 15_000 },
    toMs,
    new Random(3),
  )
  const [question] = queries
  const { firstMs, typicalMs } = await timesOf(() =>
    rival.query(question?.metric ?? '', question?.function ?? 'last', fromMs, toMs, stepMs),
  )
  rival.close()
  return { writeMs, firstMs, queryMs: typicalMs, bytes: statSync(path).size }
}

/** The time of the first question after the start, and the median of those that follow. Unit: milliseconds. */
async function timesOf(ask: () => unknown): Promise<{ firstMs: number; typicalMs: number }> {
  const times: number[] = []
  for (let i = 0; i < WARM_COUNT + ASKED_COUNT; i++) {
    const startMs = performance.now()
    await ask()
    times.push(performance.now() - startMs)
  }
  return { firstMs: times[0] ?? Number.NaN, typicalMs: median(times.slice(WARM_COUNT)) }
}
