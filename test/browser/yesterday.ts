import { hostname } from 'node:os'
import { join } from 'node:path'
import { parse } from 'valibot'
import { PastNode } from '../../packages/agent/src/simulated-past/past-node.ts'
import { simulatorOptions } from '../../packages/agent/src/sources/simulator/config.ts'
import { createStore } from '../../packages/console/server/store/store.ts'

/** A sample every two seconds shows the same faults as one every second, for half the processor time. */
const INTERVAL_MS = 2_000
/** Samples between two waits for the disk. */
const SAMPLES_A_FLUSH = 50

/** A simulated node that ran yesterday. */
export interface Yesterday {
  /** Decides the faults. */
  readonly seed: number
  /** How long it ran. Unit: seconds. */
  readonly lengthS: number
  /** When it stopped. Unit: milliseconds since the Unix epoch. */
  readonly endedMs: number
}

/** Fills the history in the data directory of an agent with what a simulated node reported yesterday. */
export async function fillYesterday(dataDir: string, { seed, lengthS, endedMs }: Yesterday): Promise<void> {
  const store = await createStore({ path: join(dataDir, 'store.db'), durability: 'block' })
  const options = parse(simulatorOptions, { seed, past_s: lengthS })
  const span = { startedMs: endedMs, fromMs: endedMs - lengthS * 1000, toMs: endedMs }
  const parts = { options, intervalMs: INTERVAL_MS, name: 'simulator', host: hostname(), ...span }
  const node = new PastNode(parts, (_source, batch) => store.accept(batch))
  for (let samples = 1; !node.step(); samples++) if (samples % SAMPLES_A_FLUSH === 0) await store.flush()
  await store.flush()
  await store.close()
}
