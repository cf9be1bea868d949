import type { Labels, RecordType } from '@sonde/sdk'
import type { Device } from '../devices/device.ts'

/** The properties of a device that hints need. */
export type HintDevice = Pick<
  Device,
  'id' | 'kind' | 'name' | 'rail' | 'isSimulated' | 'host' | 'pairs' | 'address' | 'path' | 'limits'
>

/** Which node: the agent's own, or the simulated node. */
export type WhichNode = 'real' | 'simulated'

/** Both nodes. A fault on one of them is no evidence about the other. */
export const NODES: readonly WhichNode[] = ['real', 'simulated']

/** The node of a device. */
export function whichNode({ isSimulated }: Pick<HintDevice, 'isSimulated'>): WhichNode {
  return isSimulated ? 'simulated' : 'real'
}

/** The host of a device on another host; empty for the agent's own host. */
export function foreignHost({ id, host }: Pick<HintDevice, 'id' | 'host'>): string {
  return id.endsWith(`@${host}`) ? host : ''
}

/** Finds the device that a series belongs to. */
export interface HintDeviceLookup {
  /** Changes whenever a series may belong to a different device. */
  readonly version: number
  /** Devices that the agent's own sources report. */
  own(): readonly HintDevice[]
  /** The device of a series; undefined while it is unknown. */
  deviceOf(type: Pick<RecordType, 'entity'>, labels: Labels): HintDevice | undefined
}
