import type { ListedDevice } from '@sonde/sdk/api'
import type { EntityRef } from '@sonde/sdk/internal'

/** One entity of the node, built from the records that define it. Most are devices. */
export interface Device extends Omit<ListedDevice, 'state' | 'simulated' | 'goneMs' | 'goneReason'> {
  readonly isSimulated: boolean
  /** When it left; undefined while it is present. Unit: milliseconds since the Unix epoch. */
  readonly goneMs: number | undefined
  /** Why it left, as its source reported; empty while it is present. */
  readonly goneReason: string
  /** The entity of the defining record. For a GPU that only the bus reports, this is a PCI device. */
  readonly about: EntityRef
}
