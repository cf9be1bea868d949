import { setTimeout } from 'node:timers/promises'
import pino from 'pino'
import type { AgentConfig } from '../config.ts'
import { Hosts } from '../hosting/hosts.ts'
import type { RunningSource } from '../hosting/running-source.ts'
import { latestSeries } from '../pipeline/latest.ts'
import { RecentRing } from '../pipeline/recent.ts'
import { FairLimit } from '../processor/fair-limit.ts'
import { readingsOf } from '../processor/readings.ts'
import type { DataSourceConfig } from '../sources/data-sources.ts'
import type { AgentFacts } from './agent-facts.ts'

/** How long a trial waits for one sample, and then for its end. Unit: milliseconds. */
const TRIAL_LIMIT_MS = 5000
const STOP_LIMIT_MS = 1000
const LOOK_EVERY_MS = 20

/**
 * Starts one source as an agent would, takes a sample, and stops the source. A walk without an agent learns the state
 * of drivers this way. Sources with a separate process use it: a hanging process is left behind.
 */
export async function runTrial(
  source: DataSourceConfig,
  config: Pick<AgentConfig, 'paths' | 'limits'>,
): Promise<AgentFacts> {
  const recent = new RecentRing()
  const log = pino({ level: 'silent' })
  const hosts = new Hosts([source], { config, log, accept: (batch) => recent.accept(batch) })
  hosts.start(0)
  const running = hosts.sources[0] as RunningSource
  let given: { readonly state?: 'starved'; readonly reason?: string } | undefined
  const limit = new FairLimit({
    limitMs: TRIAL_LIMIT_MS,
    read: () => readingsOf({ pid: hosts.children()[0]?.pid ?? process.pid }),
    onOver: () => {
      given = {}
    },
    onShort: (reason) => {
      given = { state: 'starved', reason }
    },
  })
  while (!running.settled && given === undefined) await setTimeout(LOOK_EVERY_MS)
  limit.stop()
  const { name, stats } = running
  const { state, reason } = running.settled ? running : { state: running.state, reason: running.reason, ...given }
  await hosts.stop(STOP_LIMIT_MS)
  return {
    source: async (wanted) => (wanted === name ? { name, state, reason, lastSampleMs: stats.lastSampleMs } : undefined),
    series: async (wanted) => latestSeries(recent, wanted),
    types: async () => recent.types(),
    devices: async () => [],
  }
}
