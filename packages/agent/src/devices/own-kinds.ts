import type { RecordType } from '@sonde/sdk'
import { isHardware, MAKERS } from './kinds/index.ts'

/** Kinds of the hardware and of the host that types name without defining them. */
const NAMED: readonly string[] = ['port', 'host']
/** Prefix of the ids of simulated devices. An entity of a kind with this name could get such an id. */
const SIMULATED = 'sim'

/**
 * Kinds that applications may not define: the kinds of the hardware even if no source reads it, the prefixes of their
 * ids, and the kinds that the agent's sources claim.
 */
export function ownKinds(types: readonly RecordType[]): ReadonlySet<string> {
  const claimed = types.flatMap(({ entity }) => entity?.kind ?? [])
  return new Set([...MAKERS.flatMap(({ kind, prefix }) => [kind, prefix]), ...NAMED, SIMULATED, ...claimed])
}

/**
 * Types that describe the hardware. Pages and charts find the series of a device by metric and labels, so an
 * application's series with such a metric would appear among them.
 */
export function hardwareTypes(types: readonly RecordType[]): RecordType[] {
  return types.filter(({ entity }) => entity !== undefined && isHardware(entity.kind))
}
