import type { RecordType, Source } from '@sonde/sdk'
import { netdevType } from '../../netdev/type.ts'
import { nvmlGpuType, nvmlMigType, nvmlProfileType } from '../../nvml/type.ts'
import { apartS, ORIGINS, type Origin } from '../observe/origin.ts'

/**
 * Types whose values are means or come in steps, with the origins of their fields. A period is that of a type: it is
 * that of its coarsest field, so that no field is said to be known better than it is.
 */
const ORIGINS_OF: readonly (readonly [type: RecordType, origins: readonly Origin[]])[] = [
  [nvmlGpuType, [ORIGINS.utilisation, ORIGINS.power, ORIGINS.powerInstant, ORIGINS.energy, ORIGINS.temperature]],
  [nvmlProfileType, [ORIGINS.profile]],
  [nvmlMigType, [ORIGINS.profile]],
  [netdevType, [ORIGINS.netdev]],
]

/** Says in `sonde_period` how often the simulated devices have anything new, however often they are reported. */
export function sayValuePeriods(source: Pick<Source, 'setPeriod'>, reportUs: number): void {
  for (const [type, origins] of ORIGINS_OF)
    source.setPeriod(type, { sampleUs: Math.max(...origins.map(apartS)) * 1e6, reportUs })
}
