import type { RecordType } from '@sonde/sdk'
import { isHardware, MAKERS } from './kinds/index.ts'

/** Kinds of the hardware and of the host that types name without defining them. */
const NAMED: readonly string[] = ['port', 'host']
/** What ids of simulated devices begin with: an entity of such a kind could take the place of one. */
const SIMULATED = 'sim'

/**
 * Kinds of which applications have no say: those of the hardware, whether a source of it runs or not, what their ids
 * begin with, and those that types of the agent's sources claim.
 */
export function ownKinds(types: readonly RecordType[]): ReadonlySet<string> {
  const claimed = types.flatMap(({ entity }) => entity?.kind ?? [])
  return new Set([...MAKERS.flatMap(({ kind, prefix }) => [kind, prefix]), ...NAMED, SIMULATED, ...claimed])
}

/**
 * Types that are about the hardware. Pages and charts of a device find its series by metric and labels: series of
 * applications with such a metric would stand among them.
 */
export function hardwareTypes(types: readonly RecordType[]): RecordType[] {
  return types.filter(({ entity }) => entity !== undefined && isHardware(entity.kind))
}
