import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ExpositionParser } from '@sonde/sdk/internal'
import peerParse from 'parse-prometheus-text-format'
import { atLeast, type BenchResult, median } from '../bench.ts'
import { bodyOf, GPUS, SERIES } from './load.ts'

const WARM_UP_ROUNDS = 5

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

interface TimedRun {
  readonly ms: number
  readonly sum: number
}

function timed(work: () => number): TimedRun {
  // Nobody pays for another's garbage.
  collectGarbage()
  const start = performance.now()
  const sum = work()
  return { ms: performance.now() - start, sum }
}

/** The sum of all values of a body, which must be the same for both. */
function ourSum(parser: ExpositionParser, body: Uint8Array): number {
  parser.parse(body)
  if (parser.faults.total > 0) throw new Error(`the parser found fault: ${JSON.stringify(parser.faults.lines)}`)
  let sum = 0
  for (let i = 0; i < parser.count; i++) sum += parser.values[i] as number
  return sum
}

function peerSum(text: string): number {
  let sum = 0
  for (const { metrics } of peerParse(text)) for (const { value } of metrics) sum += Number(value)
  return sum
}

/** How fast the text of a scrape is read; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const parser = new ExpositionParser()
  const taken: { ours: number; cold: number; theirs: number }[] = []
  let bytes = 0
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const text = bodyOf(round + WARM_UP_ROUNDS)
    const body = Buffer.from(text)
    bytes = body.length
    const ours = timed(() => ourSum(parser, body))
    const theirs = timed(() => peerSum(text))
    const cold = timed(() => ourSum(new ExpositionParser(), body))
    if (Math.abs(ours.sum - theirs.sum) > Math.abs(ours.sum) * 1e-9) throw new Error(`${ours.sum}, not ${theirs.sum}`)
    if (round >= 0) taken.push({ ours: ours.ms, cold: cold.ms, theirs: theirs.ms })
  }
  const of = (key: 'ours' | 'cold' | 'theirs') => median(taken.map((round) => round[key]))
  const speed = (ms: number) => bytes / 1e3 / ms
  const ratio = median(taken.map(({ ours, theirs }) => theirs / ours))
  const coldRatio = median(taken.map(({ cold, theirs }) => theirs / cold))
  return {
    figures: [
      {
        name: 'scraped again, against parse-prometheus-text-format',
        value: ratio,
        unit: 'x',
        gate: atLeast(ratio, 6),
      },
      { name: 'first scrape, against parse-prometheus-text-format', value: coldRatio, unit: 'x' },
      { name: 'scraped again', value: of('ours'), unit: 'ms' },
      { name: 'first scrape', value: of('cold'), unit: 'ms' },
      { name: 'parse-prometheus-text-format', value: of('theirs'), unit: 'ms' },
      { name: 'scraped again, bytes read', value: speed(of('ours')), unit: 'MB/s' },
      { name: 'first scrape, bytes read', value: speed(of('cold')), unit: 'MB/s' },
      { name: 'parse-prometheus-text-format, bytes read', value: speed(of('theirs')), unit: 'MB/s' },
    ],
    lines: [`${SERIES} series of ${GPUS} GPUs, ${bytes} bytes; parse-prometheus-text-format 1.1.1.`],
  }
}
