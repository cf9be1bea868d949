import type { Labels, RecordType } from '@sonde/sdk'
import type { Device } from '../devices/device.ts'

/** What hints need to know of a device. */
export type HintDevice = Pick<
  Device,
  'id' | 'kind' | 'name' | 'rail' | 'isSimulated' | 'host' | 'pairs' | 'address' | 'path' | 'limits'
>

/** The node that something is of: the one that the agent runs on, or the one that the simulator plays. */
export type WhichNode = 'real' | 'simulated'

/** Both nodes; nothing that happens on one of them says anything of the other. */
export const NODES: readonly WhichNode[] = ['real', 'simulated']

/** The node that a device is of. */
export function nodeOf({ isSimulated }: Pick<HintDevice, 'isSimulated'>): WhichNode {
  return isSimulated ? 'simulated' : 'real'
}

/** The host of a device that is on another one than the agent; empty if it is on the agent's own. */
export function elsewhereOf({ id, host }: Pick<HintDevice, 'id' | 'host'>): string {
  return id.endsWith(`@${host}`) ? host : ''
}

/** Finds the device that a series belongs to. */
export interface DeviceLookup {
  /** Changes whenever a series may belong to another device than before. */
  readonly version: number
  /** Devices that the agent itself knows of. */
  own(): readonly HintDevice[]
  /** The device of a series; undefined if none is known (yet). */
  deviceOf(type: Pick<RecordType, 'entity'>, labels: Labels): HintDevice | undefined
}
