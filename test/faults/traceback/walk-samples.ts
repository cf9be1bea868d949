import type { SignalRule } from '../../../packages/agent/src/rules/rule.ts'
import { EdgeList } from '../../../packages/agent/src/rules/walk/edge-list.ts'
import type { RingMemory, WalkSignal } from '../../../packages/agent/src/rules/walk/ring-memory.ts'
import { RuleWalk } from '../../../packages/agent/src/rules/walk/rule-walk.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import type { AnyStream } from './any-samples.ts'
import type { ModelSample } from './model/points.ts'

/** An edge as the engine lists it. */
export interface WalkedEdge {
  readonly rule: number
  /** Position of the sample. */
  readonly position: number
  readonly isStart: boolean
}

/** What the engine made of samples. */
export interface Walked {
  /** In its order. */
  readonly edges: readonly WalkedEdge[]
  /** Counters that became lower, as `POSITION: KIND of SIGNAL`. */
  readonly falls: readonly string[]
}

/** How samples are given to the engine. */
export interface WalkWay {
  readonly arithmetic: 'reference' | 'fixed'
  /** Decides where samples are split. */
  readonly random: Random
  /** Samples at a time at most. */
  readonly chunkSamples: number
  /** Whether the ring holds no more than the walk asks for; else it holds all samples. */
  readonly isRingSmall: boolean
}

/** Gives samples to the engine in chunks through a ring. */
export function walkSamples(stream: AnyStream, rules: readonly SignalRule[], way: WalkWay): Walked {
  const { signals, samples } = stream
  const strideWords = 2 + 2 * signals.length
  const walked: WalkSignal[] = signals.map((signal, index) => ({ ...signal, at: 2 + 2 * index }))
  const { arithmetic } = way
  // How far back a walk reaches is known once there is one, which needs a ring: the first is thrown away.
  const make = (capacity: number) => {
    const ring: RingMemory = { words: new Uint32Array(capacity * strideWords), strideWords, capacity }
    return { ring, walk: new RuleWalk({ signals: walked, rules, ring, timeAt: 0, arithmetic }) }
  }
  const reach = make(1).walk.reachSamples
  const { ring, walk } = make((way.isRingSmall ? 0 : samples.length) + reach + way.chunkSamples)
  const edges = new EdgeList()
  const falls: string[] = []
  let first = 0
  for (const [position, sample] of samples.entries()) {
    put(ring, position, sample, signals)
    const next = samples[position + 1]
    const isRunEnd = next === undefined || next.number !== sample.number + 1
    const isChunkFull = position + 1 - first === way.chunkSamples
    if (!isRunEnd && !isChunkFull && !way.random.chance(1 / way.chunkSamples)) continue
    walk.walk(first, position + 1, edges)
    for (const { sample, kind, signal } of walk.falls.take()) falls.push(`${sample}: ${kind} of ${signal}`)
    if (isRunEnd && arithmetic === 'fixed') walk.restart()
    first = position + 1
  }
  return { edges: Array.from({ length: edges.count }, (_, index) => edgeAt(edges, index)), falls: falls.sort() }
}

function edgeAt({ rule, sample, isStart }: EdgeList, index: number): WalkedEdge {
  return { rule: rule[index] as number, position: sample[index] as number, isStart: isStart[index] === 1 }
}

const bytes = new DataView(new ArrayBuffer(8))

function put(ring: RingMemory, position: number, sample: ModelSample, signals: AnyStream['signals']): void {
  const at = (position % ring.capacity) * ring.strideWords
  bytes.setBigUint64(0, sample.timeNs, true)
  copy(ring, at)
  for (const [index, { kind }] of signals.entries()) {
    const value = sample.values[index]
    if (kind === 'u64') bytes.setBigUint64(0, value as bigint, true)
    else bytes.setFloat64(0, value as number, true)
    copy(ring, at + 2 + 2 * index)
  }
}

function copy({ words }: RingMemory, at: number): void {
  words[at] = bytes.getUint32(0, true)
  words[at + 1] = bytes.getUint32(4, true)
}
