import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { defineType, gauge, label, type Source, timestamp } from '@sonde/sdk'
import { check } from '@sonde/sdk/config'
import { createOwnSource } from '@sonde/sdk/internal'
import { PastNode } from '../../packages/agent/src/simulated-past/past-node.ts'
import { simulatorOptions } from '../../packages/agent/src/sources/simulator/config.ts'
import { createStore } from '../../packages/console/server/store/store.ts'

/** A sample every two seconds shows the same faults as one every second, for half the processor time. */
const INTERVAL_MS = 2_000
/** Samples between two waits for the disk. */
const SAMPLES_A_FLUSH = 50

const NS_PER_MS = 1_000_000n
/** How long a step of the training takes. Unit: seconds. */
const USUAL_S = 0.8
const SLOW_S = 1.9
const TRAINING_STEP = defineType('training_step', 'One step of a training', {
  time: timestamp(),
  job: label('Name of the job'),
  duration_seconds: gauge('f64', { unit: 'seconds', help: 'How long the step took' }),
  number: gauge('u64', { help: 'Number of the step' }),
})

/** When a training ran, and when its steps were slow. Unit: seconds before the end. */
interface Training {
  readonly fromS: number
  readonly toS: number
  readonly slowFromS: number
  readonly slowToS: number
}

/** A simulated node that ran yesterday. */
interface Yesterday {
  /** Decides the faults. */
  readonly seed: number
  /** How long it ran. Unit: seconds. */
  readonly lengthS: number
  /** When it stopped. Unit: milliseconds since the Unix epoch. */
  readonly endedMs: number
  /** The training on it; default: none. */
  readonly training?: Training
}

/** Fills the history in the data directory of an agent with what a simulated node reported yesterday. */
export async function fillYesterday(dataDir: string, { seed, lengthS, endedMs, training }: Yesterday): Promise<void> {
  const store = await createStore({ path: join(dataDir, 'store.db'), durability: 'block' })
  const checked = check(simulatorOptions, { seed, past_s: lengthS }, 'simulator')
  assert.ok(checked.ok)
  const options = checked.value
  const span = { startedMs: endedMs, fromMs: endedMs - lengthS * 1000, toMs: endedMs }
  const parts = { options, intervalMs: INTERVAL_MS, name: 'simulator', host: hostname(), ...span }
  const node = new PastNode(parts, (_source, batch) => store.accept(batch))
  for (let samples = 1; !node.step(); samples++) if (samples % SAMPLES_A_FLUSH === 0) await store.flush()
  const steps = createOwnSource({ id: 'steps', emit: (batch) => store.accept(batch) })
  if (training) reportSteps(steps, endedMs, training)
  steps.flush()
  await store.flush()
  await store.close()
}

/** What `examples/nccl-steps` reports: a step after the other, slow ones for a while. */
function reportSteps(source: Source, endedMs: number, { fromS, toS, slowFromS, slowToS }: Training): void {
  let leftS = fromS
  for (let number = 0n; leftS > toS; number++) {
    const duration_seconds = leftS <= slowFromS && leftS > slowToS ? SLOW_S : USUAL_S
    leftS -= duration_seconds
    const time = BigInt(Math.round(endedMs - leftS * 1000)) * NS_PER_MS
    source.report(TRAINING_STEP, { time, job: 'llm', duration_seconds, number })
  }
}
