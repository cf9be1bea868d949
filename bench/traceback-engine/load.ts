import type { RecordType } from '@sonde/sdk'
import { allocateViews, encoderOf, SymbolTable } from '@sonde/sdk/internal'
import type { SignalRule, Test } from '../../packages/agent/src/rules/rule.ts'
import type { Watch, WatchedSignal } from '../../packages/agent/src/rules/watch.ts'
import { sampleFieldOf, sampleTypeOf } from '../../packages/agent/src/sources/doca-telemetry-diag/type.ts'

/** Samples of a pass: two seconds at 10 kHz. */
export const SAMPLES = 20_000
/** Over so many samples differences are taken. */
const OVER = 500
const KINDS = ['gt', 'lt', 'inc_gt', 'dt_gt', 'dt_lt'] as const
const PERIOD_NS = 100_000n

/** The input of both programs. */
export interface Cell {
  readonly rules: number
  readonly ids: number
  readonly type: RecordType
  readonly records: Uint8Array
  readonly watch: Watch
}

/** A fixed sequence of numbers of 32 bits. */
function randoms(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state
  }
}

/** Counters that rise in bursts; every 5 000 samples one of them is reset. */
export function cellOf(rules: number, ids: number): Cell {
  const idList = Array.from({ length: ids }, (_, at) => 0x1020_0001_0000_0000n + (BigInt(at) << 32n))
  const type = sampleTypeOf(idList)
  const { recordBytes } = type.layout
  const views = allocateViews(SAMPLES * recordBytes)
  const encode = encoderOf(type, new SymbolTable())
  const random = randoms(42)
  const values = idList.map(() => 0)
  for (let sample = 0; sample < SAMPLES; sample++) {
    const inBurst = sample % 1000 < 300
    for (let at = 0; at < ids; at++) {
      values[at] = (values[at] as number) + (random() % (inBurst ? 4096 : 16))
      if (sample % 5000 === 4999 && at === (sample / 5000) % ids) values[at] = 0
    }
    const own = Object.fromEntries(idList.map((id, at) => [sampleFieldOf(id), values[at]]))
    const time = 1_000_000_000n + BigInt(sample) * PERIOD_NS
    encode({ time, device_ticks: 0, device: 'mlx5_0', sample, stamp: 0, ...own } as never, views, sample * recordBytes)
  }
  const signals = idList.map((id): WatchedSignal => {
    return { name: sampleFieldOf(id), type: type.name, field: sampleFieldOf(id), labels: {}, isCounter: true }
  })
  const list = Array.from({ length: rules }, (_, at): SignalRule => {
    return { name: `rule ${at}`, signal: (at * 7) % ids, test: testOf(KINDS[at % KINDS.length] as Test['kind'], at) }
  })
  const watch = { signals, rules: list }
  return { rules, ids, type, records: views.bytes.subarray(0, SAMPLES * recordBytes), watch }
}

/** Each begins and ends some times in the pass. */
function testOf(kind: Test['kind'], at: number): Test {
  const spread = at * 1000
  if (kind === 'gt') return { kind, value: BigInt(4_000_000 + spread), onSamples: 100, offSamples: 100 }
  if (kind === 'lt') return { kind, value: BigInt(2_000_000 + spread), onSamples: 100, offSamples: 100 }
  if (kind === 'inc_gt') return { kind, value: BigInt(500_000 + spread) }
  const value = BigInt(300_000 + spread)
  return { kind: kind as 'dt_gt' | 'dt_lt', value, overSamples: OVER, offSamples: OVER }
}

/** The rules as the other program reads them: seven numbers of 64 bits each. */
export function numbersOf({ watch, type }: Cell): BigUint64Array {
  const numbers = watch.rules.flatMap(({ test, signal }) => {
    const slot = type.layout.slots.find(({ name }) => name === watch.signals[signal]?.field)
    const {
      value = 0n,
      overSamples = 0,
      onSamples = 1,
      offSamples = 1,
    } = test as Partial<Record<'overSamples' | 'onSamples' | 'offSamples', number>> & { value?: bigint }
    const kind = KINDS.indexOf(test.kind as (typeof KINDS)[number])
    return [kind, (slot?.offset ?? 0) / 8, value, overSamples, onSamples, offSamples, 1].map(BigInt)
  })
  return BigUint64Array.from(numbers)
}

/** The rules as code, each with its numbers as constants. */
export function unrolledOf(cell: Cell): string {
  const numbers = numbersOf(cell)
  const calls = Array.from({ length: cell.rules }, (_, at) => {
    const [kind, place, value, over, on, off] = numbers.subarray(at * 7)
    const rule = `{Kind(${kind}), ${place}, ${value}ull, ${over}ull, ${on}ull, ${off}ull, true}`
    return `  { const Rule rule${rule}; step(rule, states[${at}], ring, record, previous, sample, ${at}, edges); }`
  })
  const head = 'static INLINE void stepAll(State *states, const Ring &ring, const uint64_t *record,'
  return [head, '  const uint64_t *previous, uint64_t sample, std::vector<Edge> &edges) {', ...calls, '}', ''].join(
    '\n',
  )
}
