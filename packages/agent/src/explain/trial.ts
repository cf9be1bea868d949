import { setTimeout } from 'node:timers/promises'
import pino from 'pino'
import type { AgentConfig, DataSourceConfig } from '../config.ts'
import { latestSeries } from '../http/latest.ts'
import { makeRunner } from '../pipeline/make-runner.ts'
import { RecentRing } from '../pipeline/recent.ts'
import { SOURCES_MODULE } from '../places.ts'
import type { AgentFacts } from './agent-facts.ts'

/** For how long one sample is waited for, and then for its end. Unit: milliseconds. */
const TRIAL_LIMIT_MS = 5000
const STOP_LIMIT_MS = 1000
const LOOK_EVERY_MS = 20

/**
 * Starts one source as an agent would, takes a sample, and ends it: what a walk asks of drivers where no agent runs.
 * For sources that have a process of their own; one that hangs is left behind with it.
 */
export async function trialOf(
  source: DataSourceConfig,
  config: Pick<AgentConfig, 'paths' | 'limits'>,
): Promise<AgentFacts> {
  const recent = new RecentRing()
  const runner = makeRunner(source, {
    config,
    sourcesModule: SOURCES_MODULE,
    accept: (batch) => recent.accept(batch),
    log: pino({ level: 'silent' }),
  })
  runner.start(0)
  const deadlineMs = performance.now() + TRIAL_LIMIT_MS
  while (!runner.settled && performance.now() < deadlineMs) await setTimeout(LOOK_EVERY_MS)
  const { name, state, reason, stats } = runner
  await runner.stop(STOP_LIMIT_MS)
  return {
    source: async (wanted) => (wanted === name ? { name, state, reason, lastSampleMs: stats.lastSampleMs } : undefined),
    series: async (wanted) => latestSeries(recent, wanted),
    types: async () => recent.types(),
    devices: async () => [],
  }
}
