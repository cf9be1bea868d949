import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { atEnd, mayShare } from '../../scripts/test-end.ts'
import { temporaryDir } from '../sonde-process.ts'
import { type Ending, type SharedStage, type Stage, shareStage, startStage } from './browser.ts'

/**
 * A stage whose node is simulated beside the real host; samples of the simulator are this far apart. Unit:
 * milliseconds; 0: nothing is simulated.
 */
export function startSimulatedStage(t: TestContext, intervalMs = 1_000): Promise<Stage> {
  return startStage(t, ['--config', writeConfig(t, intervalMs)])
}

const sharedConfigs = new Map<number, string>()

/** A stage like that of {@link startSimulatedStage}, shared by the tests of this process. */
export function shareSimulatedStage(t: TestContext, intervalMs = 1_000): Promise<SharedStage> {
  const config = sharedConfigs.get(intervalMs) ?? writeConfig(mayShare ? { after: atEnd } : t, intervalMs)
  if (mayShare) sharedConfigs.set(intervalMs, config)
  return shareStage(t, ['--config', config])
}

function writeConfig(test: Ending, intervalMs: number): string {
  const { path, remove } = temporaryDir()
  test.after(remove)
  const config = join(path, 'sonde.yaml')
  const simulator = intervalMs > 0 ? `  - type: simulator\n    interval_ms: ${intervalMs}\n` : ''
  writeFileSync(config, `data_sources:\n${simulator}  - type: host\n  - type: netdev\n`)
  return config
}
