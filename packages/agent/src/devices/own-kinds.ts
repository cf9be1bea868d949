import type { RecordType } from '@sonde/sdk'

/** Kinds that have code here: what there is of them is seen by the agent alone, whether a source runs or not. */
const HARDWARE: readonly string[] = ['gpu', 'nic', 'port', 'netdev', 'pci', 'host']
/** What ids of these begin with beside their kind: an entity of such a kind could take the place of hardware. */
const PREFIXES: readonly string[] = ['net', 'sim']

/** Kinds of which applications have no say: those of the hardware, and those that types of the agent's sources claim. */
export function ownKinds(types: readonly RecordType[]): ReadonlySet<string> {
  return new Set([...HARDWARE, ...PREFIXES, ...types.flatMap(({ entity }) => entity?.kind ?? [])])
}
