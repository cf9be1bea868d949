import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryDir } from '../sonde-process.ts'
import { type Stage, startStage } from './browser.ts'

/**
 * A stage whose node is simulated beside the real host; samples of the simulator are this far apart. Unit:
 * milliseconds; 0: nothing is simulated.
 */
export function startSimulatedStage(t: TestContext, intervalMs = 1_000): Promise<Stage> {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const config = join(path, 'sonde.yaml')
  const simulator = intervalMs > 0 ? `  - type: simulator\n    interval_ms: ${intervalMs}\n` : ''
  writeFileSync(config, `data_sources:\n${simulator}  - type: host\n  - type: netdev\n`)
  return startStage(t, ['--config', config])
}
