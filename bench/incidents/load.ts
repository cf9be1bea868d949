import { type Batch, createSource } from '@sonde/sdk'
import type { Hint } from '@sonde/sdk/api'
import { check } from '@sonde/sdk/config'
import { reportHint } from '../../packages/agent/src/hints/history/hint-type.ts'
import { PastNode } from '../../packages/agent/src/simulated-past/past-node.ts'
import { SELF } from '../../packages/agent/src/simulated-past/past-protocol.ts'
import { simulatorOptions } from '../../packages/agent/src/sources/simulator/config.ts'

/** Hints of one rule on different devices have one cause if they begin within 30 s. Unit: milliseconds. */
const APART_MS = 31_500
const DEVICES = 512
const BATCH = 1000

/** Takes records; resolves when it can take more. */
export type Take = (batches: readonly Batch[]) => Promise<void>

/** Reports incidents of one hint each, one after the other; the last begins just before a time. */
export async function reportMany(count: number, endMs: number, take: Take): Promise<void> {
  const batches: Batch[] = []
  const source = createSource({ id: 'self', emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) })
  for (let at = 0; at < count; at++) {
    const sinceMs = endMs - (count - at) * APART_MS
    const hint = hintAt(at, sinceMs)
    reportHint(source, hint, 'opened', sinceMs)
    reportHint(source, { ...hint, seenMs: sinceMs + 500 }, 'ended', sinceMs + 1500)
    if (at % BATCH !== BATCH - 1) continue
    source.flush()
    await take(batches.splice(0))
  }
}

function hintAt(at: number, sinceMs: number): Hint {
  const device = `nic-mlx5_${at % DEVICES}-1`
  const times = (at % 7) + 1
  return {
    ...{ id: `link_flap/${device}`, event: `${sinceMs}000000`, rule: 'link_flap', device, severity: 'warning' },
    ...{ stage: 'standing', sinceMs, seenMs: sinceMs, measuredMs: sinceMs, neededMs: 0, affected: [], lacks: [] },
    ...{ title: `NIC ${at % DEVICES} lost its link`, sentence: `The link went down ${times} times in a minute` },
    ...{ value: times, comparator: '>=', limit: 1, unit: 'times' },
    evidence: [{ metric: 'netdev_carrier_down_total', function: 'increase', matchers: [] }],
  }
}

/** Reports the hints of a simulated node, as its past has them. */
export async function reportPast(hours: number, endMs: number, take: Take): Promise<void> {
  const batches: Batch[] = []
  const options = check(simulatorOptions, { seed: 1, past_s: hours * 3600 }, 'simulator')
  if (!options.ok) throw new Error('the options of the simulator are wrong')
  const span = { startedMs: endMs, fromMs: endMs - hours * 3_600_000, toMs: endMs - 1000 }
  const node = new PastNode(
    { options: options.value, intervalMs: 1000, name: 'simulator', host: 'bench', ...span },
    (from, batch) => {
      if (from === SELF) batches.push({ ...batch, bytes: batch.bytes.slice() })
    },
  )
  while (!node.step()) if (batches.length >= BATCH) await take(batches.splice(0))
  await take(batches)
}
