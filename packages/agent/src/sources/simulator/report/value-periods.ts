import type { RecordType, Source } from '@sonde/sdk'
import { netdevType } from '../../netdev/type.ts'
import { nvmlGpuType, nvmlMigType, nvmlProfileType } from '../../nvml/type.ts'
import { apartS, ORIGINS, type ReadingOrigin } from '../observe/origin.ts'

/**
 * Types with means or values in steps, with the origins of their fields. A type has one period, that of its coarsest
 * field, so that no field claims more resolution than it has.
 */
const ORIGINS_OF: readonly (readonly [type: RecordType, origins: readonly ReadingOrigin[]])[] = [
  [nvmlGpuType, [ORIGINS.utilisation, ORIGINS.power, ORIGINS.powerInstant, ORIGINS.energy, ORIGINS.temperature]],
  [nvmlProfileType, [ORIGINS.profile]],
  [nvmlMigType, [ORIGINS.profile]],
  [netdevType, [ORIGINS.netdev]],
]

/** Reports in `sonde_period` how often the simulated devices have new values, regardless of the report interval. */
export function sayValuePeriods(source: Pick<Source, 'setPeriod'>, reportUs: number): void {
  for (const [type, origins] of ORIGINS_OF)
    source.setPeriod(type, { sampleUs: Math.max(...origins.map(apartS)) * 1e6, reportUs })
}
