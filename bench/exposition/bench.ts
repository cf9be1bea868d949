import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createPrometheus, type Prometheus } from '@sonde/sdk'
import { Registry } from 'prom-client'
import { atLeast, type BenchResult, type Figure, median } from '../bench.ts'
import { ourLoad, promClientLoad, ROWS, SERIES } from './load.ts'

const FORMATS = ['text', 'openmetrics'] as const
type FormatName = (typeof FORMATS)[number]
const ACCEPT: Readonly<Record<FormatName, string>> = {
  text: 'text/plain;version=0.0.4',
  openmetrics: 'application/openmetrics-text;version=1.0.0',
}

const WARM_UP_ROUNDS = 20
/** How many times faster than a whole scrape of prom-client: all lines, 1 % of them, and the longest turn. */
const GATES = { all: 10, few: 310, turn: 31 }

/** What a scrape took. Unit: milliseconds, bytes. */
interface ScrapeCost {
  readonly ms: number
  /** Longest turn of the event loop meanwhile: processor time of the main thread, and by the clock. */
  readonly turnMs: number
  readonly turnWallMs: number
  readonly bytes: number
}

/** What one round took: ours with all and with 1 % changed, and prom-client with all. */
interface Round {
  readonly all: ScrapeCost
  readonly few: ScrapeCost
  readonly theirs: ScrapeCost
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Processor time that the main thread took so far. Unit: milliseconds. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Measures work from start to end, and the longest turn of the event loop meanwhile: every turn runs one `setImmediate`
 * of ours.
 */
async function measure(work: () => Promise<number>): Promise<ScrapeCost> {
  let turnMs = 0
  let turnWallMs = 0
  let running = true
  let last = { processor: processorMs(), wall: performance.now() }
  const watch = () => {
    const now = { processor: processorMs(), wall: performance.now() }
    turnMs = Math.max(turnMs, Math.min(now.processor - last.processor, now.wall - last.wall))
    turnWallMs = Math.max(turnWallMs, now.wall - last.wall)
    last = now
    if (running) setImmediate(watch)
  }
  setImmediate(watch)
  const start = performance.now()
  const bytes = await work()
  const ms = performance.now() - start
  running = false
  await new Promise((resolve) => setImmediate(resolve))
  return { ms, turnMs, turnWallMs, bytes }
}

/** Ours: the batches are taken and the answer is made, up to the bytes that go to the socket. */
async function scrape(
  view: Prometheus,
  send: () => void,
  format: FormatName,
  acceptEncoding?: string,
): Promise<number> {
  send()
  const { bytes, release } = await view.render({ accept: ACCEPT[format], acceptEncoding })
  release()
  return bytes
}

/** One format: ours and prom-client in turn, both with equal values. */
async function compare(format: FormatName, rounds: number): Promise<{ figures: Figure[]; lines: string[] }> {
  const view = createPrometheus()
  const ours = ourLoad((batch) => view.accept(batch))
  const type = format === 'text' ? Registry.PROMETHEUS_CONTENT_TYPE : Registry.OPENMETRICS_CONTENT_TYPE
  /** Everything is new to a view: what the first scrape after a start has. */
  const coldScrape = () => scrape(createPrometheus(), ours.send, format)
  const ourScrape = () => scrape(view, ours.send, format)
  ours.update(0, 1)
  // A process that starts has no garbage of earlier work, and no peer in its heap.
  collectGarbage()
  const first = await measure(ourScrape)
  const peer = promClientLoad(type)
  const peerScrape = async () => Buffer.byteLength(await peer.registry.metrics())
  const cold: ScrapeCost[] = [first]
  const taken: Round[] = []
  // Rounds below 0 warm the compiler up: a process that is scraped for days is never in them.
  for (let round = -WARM_UP_ROUNDS, step = 1; round < rounds; round++, step += 2) {
    ours.update(step, 1)
    const all = await measure(ourScrape)
    ours.update(step + 1, 100)
    const few = await measure(ourScrape)
    if (round < -1) continue
    peer.update(step, 1)
    // Nobody pays for another's garbage.
    collectGarbage()
    const theirs = await measure(peerScrape)
    collectGarbage()
    if (round < 0) continue
    taken.push({ all, few, theirs })
    ours.update(step, 1)
    cold.push(await measure(coldScrape))
    collectGarbage()
  }
  ours.update(1000, 1)
  const gzip = await measure(() => scrape(view, ours.send, format, 'gzip'))
  const middle = (of: keyof Round) => median(taken.map((round) => round[of].ms))
  const ratio = median(taken.map(({ all, theirs }) => theirs.ms / all.ms))
  const fewRatio = median(taken.map(({ few, theirs }) => theirs.ms / few.ms))
  const turnMs = Math.max(...taken.map(({ all }) => all.turnMs))
  const theirTurnMs = median(taken.map(({ theirs }) => theirs.turnMs))
  const turnWallMs = Math.max(...taken.map(({ all }) => all.turnWallMs))
  const coldTurnMs = Math.max(...cold.map(({ turnMs }) => turnMs))
  const against = (name: string, value: number, wanted: number): Figure => {
    return { name: `${format}: ${name}, against prom-client`, value, unit: 'x', gate: atLeast(value, wanted) }
  }
  return {
    figures: [
      against('all changed', ratio, GATES.all),
      against('1 % changed', fewRatio, GATES.few),
      against('longest turn', theirTurnMs / turnMs, GATES.turn),
      against('cold, longest turn', theirTurnMs / coldTurnMs, GATES.turn),
      { name: `${format}: all changed`, value: middle('all'), unit: 'ms' },
      { name: `${format}: all changed, prom-client`, value: middle('theirs'), unit: 'ms' },
      { name: `${format}: longest turn of all rounds`, value: turnMs, unit: 'ms' },
      { name: `${format}: longest turn of all rounds, by the clock`, value: turnWallMs, unit: 'ms' },
      { name: `${format}: 1 % changed`, value: middle('few'), unit: 'ms' },
      { name: `${format}: first scrape, cold`, value: first.ms, unit: 'ms' },
      { name: `${format}: cold, longest turn of all rounds`, value: coldTurnMs, unit: 'ms' },
      { name: `${format}: all changed, with gzip`, value: gzip.ms, unit: 'ms' },
      { name: `${format}: all changed, with gzip, longest turn`, value: gzip.turnMs, unit: 'ms' },
    ],
    lines: [`${format}: ${first.bytes} bytes, ${gzip.bytes} with gzip; prom-client ${taken[0]?.theirs.bytes} bytes.`],
  }
}

/** How fast the text of a scrape is made; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const results = []
  for (const format of FORMATS) results.push(await compare(format, rounds))
  return {
    figures: results.flatMap(({ figures }) => figures),
    lines: [
      `${SERIES} series: ${ROWS} label combinations, 12 u64 counters and 12 f64 gauges each; prom-client 15.1.3.`,
      ...results.flatMap(({ lines }) => lines),
    ],
  }
}
