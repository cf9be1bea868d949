import { existsSync, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { counter, defineType, label, timestamp, wallNs } from '@sonde/sdk'
import * as v from 'valibot'
import { type SampledSource, sampled } from '../src/sources/sampled.ts'
import type { SourceContext, SourceDefinition } from '../src/sources/source.ts'

// A source that behaves as badly as vendor code can: it hangs, crashes, floods or makes up names at a given sample.

/** What it reports: one row a device and sample. */
export const unrulyType = defineType('unruly', 'Samples of a source that misbehaves', {
  time: timestamp(),
  device: label('Device'),
  samples_total: counter('u64', { help: 'Samples taken in this life of the process' }),
})

type Misdeed =
  | 'none'
  | 'hang'
  | 'wait'
  | 'crash'
  | 'flood'
  | 'names'
  | 'throw'
  | 'edge'
  | 'edges'
  | keyof typeof NONSENSE
/** Descriptor through which the child speaks to its agent. */
const PIPE = 3

/** A message with a length before it, as the child sends them. */
function framed(said: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(said))
  const head = Buffer.alloc(8)
  head.writeUInt32LE(json.length)
  return Buffer.concat([head, json])
}

const status = {
  ...{ kind: 'status', source: 'unruly', state: 'reading', reason: '', found: '', stuck: [], calls: [] },
  ...{ overruns: 0, failed: 0, failures: [], dropped: {} },
}

/**
 * Bytes of a library that writes to a descriptor by mistake, or has overwritten shared memory.
 */
export const NONSENSE = {
  text: Buffer.from('vendor library 7.1: device 0000:9a:00.0 does not respond\n'),
  zeros: Buffer.alloc(64),
  serialised: Buffer.from([0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]),
  'no-json': Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x7b]),
  'no-message': framed(null),
  'no-kind': framed({ kind: '__proto__' }),
  'no-count': framed({ ...status, dropped: { lost: 0.5 } }),
  'no-failures': framed({ ...status, failures: {} }),
  'no-texts': framed({ kind: 'symbols', source: 'unruly', texts: [{}] }),
  'no-time': framed({ kind: 'edge', source: 'unruly', rule: 'r', device: '', event: 1, monoNs: '-1', errorNs: '0' }),
  'no-bytes': framed({ kind: 'batch', source: 'unruly', type: '', clock: 'wall', count: 1 }),
}

interface UnrulyOptions {
  readonly misdeed: Misdeed
  /** The sample at which it happens, from 1. */
  readonly at: number
  /** Names of its devices are `dev0`, `dev1`, … */
  readonly devices: number
  /** While this file is there, a source that begins finds one device less. */
  readonly lossFile: string
}

const FLOOD_RECORDS = 300_000
/** More events than a device may have in a minute. */
const EDGES = 500
/** More than the symbol table of a source holds. */
const NAMES = 70_000

/** Ends the process, or the worker, without a word: a signal where there is a process to send it to. */
function crash(): void {
  if (isMainThread) process.abort()
  setImmediate(() => {
    throw new Error('the library lost its mind')
  })
}

function misbehave(misdeed: Misdeed, context: SourceContext): void | Promise<void> {
  const { source } = context
  // Blocks the thread for good, as a call into a driver does: no timer, signal handler or message gets through.
  if (misdeed === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  // As a call on a thread of the pool does: everything else goes on.
  if (misdeed === 'wait') return new Promise(() => undefined)
  if (misdeed === 'crash') crash()
  if (misdeed in NONSENSE) writeSync(PIPE, NONSENSE[misdeed as keyof typeof NONSENSE])
  if (misdeed === 'edge') reportEdges(context, 1)
  if (misdeed === 'edges') reportEdges(context, EDGES)
  if (misdeed === 'throw') throw new Error('the device answered nonsense')
  if (misdeed === 'flood') {
    for (let i = 0; i < FLOOD_RECORDS; i++)
      source.report(unrulyType, { time: wallNs(), device: 'flood', samples_total: i })
    reportEdges(context, 1)
  }
  if (misdeed === 'names') {
    for (let i = 0; i < NAMES; i++) source.report(unrulyType, { time: wallNs(), device: `name${i}`, samples_total: i })
  }
}

/** Events that start and end, each with a record between its edges. */
function reportEdges({ source, edge }: SourceContext, events: number): void {
  const common = { rule: 'too_hot', device: 'dev0', errorNs: 7n }
  for (let i = 1; i <= events; i++) {
    edge({ ...common, monoNs: process.hrtime.bigint(), isStart: true })
    source.report(unrulyType, { time: wallNs(), device: 'hot', samples_total: i })
    // The second one ends nothing.
    for (const isStart of [false, false]) edge({ ...common, monoNs: process.hrtime.bigint(), isStart })
  }
}

function unrulySource({ misdeed, at, devices, lossFile }: UnrulyOptions, context: SourceContext): SampledSource {
  const found = existsSync(lossFile) ? devices - 1 : devices
  let samples = 0
  return {
    probe: () => ({ state: 'present', found: 'one device that cannot be trusted' }),
    sample() {
      samples++
      for (let i = 0; i < found; i++)
        context.source.report(unrulyType, { time: wallNs(), device: `dev${i}`, samples_total: samples })
      if (samples === at) return misbehave(misdeed, context)
    },
    command: (command) => ({ asked: command, samples }),
    close: () => undefined,
  }
}

const MISDEEDS = ['none', 'hang', 'wait', 'crash', 'flood', 'names', 'throw', 'edge', 'edges', ...Object.keys(NONSENSE)]
const library = { name: 'unruly', parallel: Number.POSITIVE_INFINITY, open: () => ({}), close: () => undefined }

function definition(host: SourceDefinition['host'], name: string): SourceDefinition {
  return {
    name,
    summary: 'Misbehaves on demand',
    types: [unrulyType],
    host,
    intervalMs: 50,
    labels: { site: 'lab' },
    options: v.strictObject({
      misdeed: v.optional(v.picklist(MISDEEDS), 'none'),
      at: v.optional(v.number(), 3),
      devices: v.optional(v.number(), 1),
      lossFile: v.optional(v.string(), ''),
    }),
    load: async () => ({
      ...(host === library.name ? { library } : {}),
      create: (options, context) => sampled(unrulySource(options as UnrulyOptions, context), context),
    }),
  }
}

/** The registry that child processes import in tests. */
export const SOURCES: readonly SourceDefinition[] = [
  definition('unruly', 'unruly'),
  definition('worker', 'unruly_worker'),
  definition('agent', 'unruly_agent'),
]
