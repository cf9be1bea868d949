import { createPrometheus, type Prometheus } from '@sonde/sdk'
import { Registry } from 'prom-client'
import { atLeast, atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { type Load, ourLoad, promClientLoad, ROWS, SERIES } from './load.ts'

const FORMATS = ['text', 'openmetrics'] as const
type FormatName = (typeof FORMATS)[number]
const ACCEPT: Readonly<Record<FormatName, string>> = {
  text: 'text/plain;version=0.0.4',
  openmetrics: 'application/openmetrics-text;version=1.0.0',
}

/** What a scrape took. Unit: milliseconds, bytes. */
interface Taken {
  readonly ms: number
  /** Longest turn of the event loop meanwhile. */
  readonly turnMs: number
  readonly bytes: number
}

/** Measures work from start to end, and the longest turn of the event loop meanwhile: every turn runs one `setImmediate` of ours. */
async function measure(work: () => Promise<number>): Promise<Taken> {
  let turnMs = 0
  let running = true
  let turnStart = performance.now()
  const watch = () => {
    const now = performance.now()
    turnMs = Math.max(turnMs, now - turnStart)
    turnStart = now
    if (running) setImmediate(watch)
  }
  setImmediate(watch)
  const start = performance.now()
  const bytes = await work()
  const ms = performance.now() - start
  running = false
  await new Promise((resolve) => setImmediate(resolve))
  return { ms, turnMs, bytes }
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
  const peer = promClientLoad(type)
  const ourScrape = () => scrape(view, ours.send, format)
  const peerScrape = async () => Buffer.byteLength(await peer.registry.metrics())
  const both: Load = { update: (step, everyNth) => [ours, peer].forEach((load) => void load.update(step, everyNth)) }

  both.update(0, 1)
  const first = await measure(ourScrape)
  const all: Taken[] = []
  const few: Taken[] = []
  const peers: Taken[] = []
  // The first rounds warm the compiler up; a process that is scraped for days is never in them.
  for (let round = -3, step = 1; round < rounds; round++, step += 2) {
    both.update(step, 1)
    const taken = [await measure(ourScrape), await measure(peerScrape)] as const
    both.update(step + 1, 100)
    const one = await measure(ourScrape)
    if (round < 0) continue
    all.push(taken[0])
    peers.push(taken[1])
    few.push(one)
  }
  ours.update(1000, 1)
  const gzip = await measure(() => scrape(view, ours.send, format, 'gzip'))
  const middle = (of: readonly Taken[]) => median(of.map(({ ms }) => ms))
  const ratio = median(all.map(({ ms }, i) => (peers[i]?.ms ?? Number.NaN) / ms))
  const turnMs = Math.max(...all.map((taken) => taken.turnMs))
  return {
    figures: [
      { name: `${format}: all changed, against prom-client`, value: ratio, unit: 'x', gate: atLeast(ratio, 10) },
      { name: `${format}: all changed`, value: middle(all), unit: 'ms' },
      { name: `${format}: all changed, prom-client`, value: middle(peers), unit: 'ms' },
      {
        name: `${format}: longest turn of all rounds and the first`,
        value: turnMs,
        unit: 'ms',
        gate: atMost(turnMs, 10),
      },
      { name: `${format}: 1 % changed`, value: middle(few), unit: 'ms', gate: atMost(middle(few), 1) },
      { name: `${format}: first scrape, cold`, value: first.ms, unit: 'ms' },
      { name: `${format}: first scrape, cold, longest turn`, value: first.turnMs, unit: 'ms' },
      { name: `${format}: all changed, with gzip`, value: gzip.ms, unit: 'ms' },
      { name: `${format}: all changed, with gzip, longest turn`, value: gzip.turnMs, unit: 'ms' },
    ],
    lines: [`${format}: ${first.bytes} bytes, ${gzip.bytes} with gzip; prom-client ${peers[0]?.bytes} bytes.`],
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
