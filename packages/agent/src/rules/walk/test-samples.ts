import type { SignalRule, Test } from '../rule.ts'
import { EdgeList } from './edge-list.ts'
import { RuleWalk } from './rule-walk.ts'

/** Samples of a test: a value a signal, 100 µs apart; undefined if samples are missing before the next. */
export type TestSamples = readonly (readonly (bigint | number)[] | undefined)[]

/** How {@link walkedEdges} walks. */
export interface TestWalk {
  readonly tests: readonly (Test | { readonly signal: number; readonly test: Test })[]
  readonly arithmetic?: 'reference' | 'fixed'
  readonly isCounter?: boolean
  readonly kind?: 'u64' | 'f64'
  /** Samples that are put into the ring at a time. Default: all. */
  readonly pieceSamples?: number
  readonly capacity?: number
}

const WORDS_OF_VALUE = 2
const PERIOD_NS = 100_000n

/** Edges of rules over samples, as `rule@sample+` and `rule@sample-`. */
export function walkedEdges(samples: TestSamples, options: TestWalk): string[] {
  const { tests, arithmetic = 'fixed', isCounter = true, kind = 'u64', pieceSamples = 1e9, capacity = 1024 } = options
  const width = samples.find((one) => one !== undefined)?.length ?? 1
  const strideWords = WORDS_OF_VALUE * (1 + width)
  const words = new Uint32Array(capacity * strideWords)
  const data = new DataView(words.buffer)
  const rules = tests.map((test, index): SignalRule => {
    return { name: `r${index}`, signal: 0, ...('test' in test ? test : { test }) }
  })
  const signals = Array.from({ length: width }, (_, index) => ({ at: 2 * (index + 1), kind, isCounter }))
  const ring = { words, strideWords, capacity }
  const walk = new RuleWalk({ signals, rules, ring, timeAt: 0, arithmetic })
  const edges = new EdgeList()
  let total = 0
  let first = 0
  const flush = () => {
    walk.walk(first, total, edges)
    first = total
  }
  let time = 1_000_000_000n
  for (const sample of samples) {
    time += PERIOD_NS
    if (sample === undefined) {
      flush()
      walk.restart()
      continue
    }
    const at = (total % capacity) * strideWords * 4
    data.setBigUint64(at, time, true)
    for (const [index, value] of sample.entries()) {
      if (kind === 'f64') data.setFloat64(at + 8 * (index + 1), Number(value), true)
      else data.setBigUint64(at + 8 * (index + 1), BigInt.asUintN(64, BigInt(value)), true)
    }
    total++
    if (total - first >= Math.min(pieceSamples, capacity - walk.reachSamples)) flush()
  }
  flush()
  return Array.from({ length: edges.count }, (_, at) => {
    return `${edges.rule[at]}@${edges.sample[at]}${edges.isStart[at] === 1 ? '+' : '-'}`
  })
}
